package transport

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// processTree is a job object that ends with its handle, hence also when this
// program dies (basic/transports/stdio "Shutdown").
type processTree struct{ job windows.Handle }

func startTree(cmd *exec.Cmd) (processTree, error) {
	job, err := newJob()
	if err != nil {
		return processTree{}, err
	}
	// Suspended until it is in the job: what it starts before would be outside.
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_NO_WINDOW | windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED,
	}
	if err := cmd.Start(); err != nil {
		windows.CloseHandle(job)
		return processTree{}, err
	}
	if err := adopt(job, uint32(cmd.Process.Pid)); err != nil {
		cmd.Process.Kill()
		cmd.Wait()
		windows.CloseHandle(job)
		return processTree{}, err
	}
	return processTree{job}, nil
}

func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("create job object: %w", err)
	}
	var info windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		windows.CloseHandle(job)
		return 0, fmt.Errorf("set up job object: %w", err)
	}
	return job, nil
}

// adopt puts a suspended process into the job and lets it run.
func adopt(job windows.Handle, pid uint32) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return fmt.Errorf("open process: %w", err)
	}
	defer windows.CloseHandle(process)
	if err := windows.AssignProcessToJobObject(job, process); err != nil {
		return fmt.Errorf("assign process to job: %w", err)
	}
	return resume(pid)
}

// resume lets the threads of a process run; a fresh one has a single thread, but
// there is no call that names it.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer windows.CloseHandle(snapshot)
	resumed := false
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("open thread: %w", err)
		}
		_, err = windows.ResumeThread(thread)
		windows.CloseHandle(thread)
		if err != nil {
			return fmt.Errorf("resume thread: %w", err)
		}
		resumed = true
	}
	if !resumed {
		return fmt.Errorf("resume: process has no thread")
	}
	return nil
}

// terminate ends the job: there is no gentler request that reaches a process
// without a console.
func (t processTree) terminate() { t.kill() }

func (t processTree) kill() { windows.TerminateJobObject(t.job, 1) }

// basicAccounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type basicAccounting struct {
	userTime, kernelTime, periodUserTime, periodKernelTime int64
	pageFaults, processes, active, terminated              uint32
}

func (t processTree) alive() bool {
	var info basicAccounting
	err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err != nil || info.active > 0
}

func (t processTree) release() { windows.CloseHandle(t.job) }

// exitStatus tells how a process ended; there are no signals here.
func exitStatus(s *os.ProcessState) (code int, signal string) { return s.ExitCode(), "" }
