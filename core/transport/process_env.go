package transport

import (
	"runtime"
	"strings"
)

// ChildEnv returns the environment of a server's process: from parent (KEY=VALUE)
// what [inherited] lists, and extra on top; of one name the last wins. On Windows
// names are compared without case.
//
// # The rule (case 11, acceptance 88 and 89)
//
// A server gets the essentials of its platform, the proxy and CA settings, the
// locale, the desktop session, and the places of tool chains. It gets nothing
// else: Drawbridge's own variables and the credentials in the environment that
// Drawbridge was started from are not its business. What it needs besides is named
// in its spec, where ${env:NAME} passes a variable on (K1).
//
// The list says what is let through and not what is held back, because nobody can
// list the names of secrets (DATABASE_URL, a company's own): a variable that is
// missing shows itself and costs one line in a spec, a secret that leaks shows
// nothing. Proxy URLs may hold a password; without them nothing works behind such
// a proxy.
func ChildEnv(parent, extra []string) []string {
	return childEnv(parent, extra, runtime.GOOS == "windows")
}

// childEnv is ChildEnv with the comparison of names as a parameter.
func childEnv(parent, extra []string, fold bool) []string {
	var env []string
	for _, kv := range parent {
		if name, _, ok := strings.Cut(kv, "="); ok && isInherited(name, fold) {
			env = append(env, kv)
		}
	}
	for _, kv := range extra {
		if name, value, ok := strings.Cut(kv, "="); ok && name != "" {
			env = setEnvFold(env, name, value, fold)
		}
	}
	return env
}

// setEnv sets one variable.
func setEnv(env []string, name, value string) []string {
	return setEnvFold(env, name, value, runtime.GOOS == "windows")
}

func setEnvFold(env []string, name, value string, fold bool) []string {
	for i, kv := range env {
		if n, _, _ := strings.Cut(kv, "="); sameName(n, name, fold) {
			env[i] = name + "=" + value
			return env
		}
	}
	return append(env, name+"="+value)
}

// getEnv returns the value of one variable, "" when it is not there.
func getEnv(env []string, name string) string {
	for _, kv := range env {
		if n, value, _ := strings.Cut(kv, "="); sameName(n, name, runtime.GOOS == "windows") {
			return value
		}
	}
	return ""
}

func sameName(a, b string, fold bool) bool {
	return a == b || fold && strings.EqualFold(a, b)
}

func isInherited(name string, fold bool) bool {
	for _, pattern := range inherited {
		prefix, isPrefix := strings.CutSuffix(pattern, "*")
		switch {
		case !isPrefix && sameName(name, pattern, fold):
			return true
		case isPrefix && len(name) >= len(prefix) && sameName(name[:len(prefix)], prefix, fold):
			return true
		}
	}
	return false
}

// inherited lists the names of variables that every server gets. A trailing "*"
// stands for any rest; it is used only where a family holds no credentials.
var inherited = strings.Fields(`
	HOME LOGNAME USER SHELL PATH PWD TERM COLORTERM NO_COLOR FORCE_COLOR
	TMPDIR TMP TEMP TZ
	LANG LANGUAGE LC_*

	HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NO_PROXY
	http_proxy https_proxy all_proxy ftp_proxy no_proxy
	NODE_USE_ENV_PROXY
	SSL_CERT_FILE SSL_CERT_DIR NIX_SSL_CERT_FILE NODE_EXTRA_CA_CERTS
	NODE_USE_SYSTEM_CA REQUESTS_CA_BUNDLE CURL_CA_BUNDLE PIP_CERT AWS_CA_BUNDLE
	GIT_SSL_CAINFO CARGO_HTTP_CAINFO DENO_CERT DENO_TLS_CA_STORE
	UV_NATIVE_TLS UV_SYSTEM_CERTS

	XDG_* DBUS_SESSION_BUS_ADDRESS DISPLAY WAYLAND_DISPLAY XAUTHORITY
	DESKTOP_SESSION SSH_AUTH_SOCK __CF_USER_TEXT_ENCODING

	JAVA_HOME ANDROID_HOME GOPATH GOROOT GOBIN CARGO_HOME RUSTUP_HOME DOTNET_ROOT
	NVM_DIR NVM_BIN FNM_DIR VOLTA_HOME PNPM_HOME BUN_INSTALL DENO_DIR NODE_PATH
	PYENV_ROOT VIRTUAL_ENV CONDA_PREFIX CONDA_EXE PYTHONPATH PYTHONHOME
	PYTHONIOENCODING PYTHONUTF8 UV_CACHE_DIR RBENV_ROOT GEM_HOME GEM_PATH
	ASDF_DIR ASDF_DATA_DIR MISE_DATA_DIR HOMEBREW_PREFIX NIX_PATH NIX_PROFILES
	LD_LIBRARY_PATH DYLD_LIBRARY_PATH DOCKER_HOST DOCKER_CONTEXT DOCKER_CONFIG
	KUBECONFIG

	SYSTEMROOT SYSTEMDRIVE WINDIR COMSPEC PATHEXT OS PSMODULEPATH DRIVERDATA
	APPDATA LOCALAPPDATA PROGRAMDATA ALLUSERSPROFILE PUBLIC USERPROFILE
	HOMEDRIVE HOMEPATH USERNAME USERDOMAIN USERDOMAIN_ROAMINGPROFILE COMPUTERNAME
	LOGONSERVER SESSIONNAME NUMBER_OF_PROCESSORS PROCESSOR_*
	PROGRAMFILES PROGRAMFILES(X86) PROGRAMW6432
	COMMONPROGRAMFILES COMMONPROGRAMFILES(X86) COMMONPROGRAMW6432
`)
