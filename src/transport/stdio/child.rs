//! The server as a child process, in a group of its own, so that what it started ends with it.

use std::ffi::OsString;
use std::io;
use std::process::{ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;

/// Variables that tie `git` to one repository: whoever runs us from a hook has them set, and a
/// server that works on another repository must not get them.
const REPOSITORY: &[&str] = &[
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GRAFT_FILE",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_NAMESPACE",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_WORK_TREE",
];

/// Ours alone.
const SALT: &str = "MCP_CASSETTE_REDACT_SALT";

/// A server that runs.
pub(super) struct Server {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
    pub(super) group: Group,
}

/// Why a server does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// There is no such program.
    #[error("the server command '{0}' was not found; is it installed, and on the PATH?")]
    NotFound(String),
    /// It is there and cannot be run.
    #[error(
        "the server command '{0}' cannot be executed: {1}; is it a program, or \
        does it need an interpreter before it, as in `sh {0}`?"
    )]
    NotExecutable(String, io::Error),
    /// The operating system has no more pipes, threads or the like.
    #[error("the server cannot be started: {0}")]
    System(#[from] io::Error),
}

/// Starts `program`; `exited` is called on a thread of its own when it has ended.
pub(super) fn start(
    program: &[OsString],
    exited: impl FnOnce(io::Result<ExitStatus>) + Send + 'static,
) -> Result<Server, StartError> {
    let (name, arguments) = program
        .split_first()
        .ok_or_else(|| StartError::NotFound(String::new()))?;
    let mut command = Command::new(runnable(name));
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    for variable in REPOSITORY.iter().chain([&SALT]) {
        command.env_remove(variable);
    }
    let failed = |error: io::Error| {
        let name = name.to_string_lossy().into_owned();
        match error.kind() {
            io::ErrorKind::NotFound => StartError::NotFound(name),
            _ => StartError::NotExecutable(name, error),
        }
    };
    platform::start(command, exited).map_err(failed)
}

fn pipes(
    stdin: Option<ChildStdin>,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    group: Group,
) -> io::Result<Server> {
    match (stdin, stdout, stderr) {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok(Server {
            stdin,
            stdout,
            stderr,
            group,
        }),
        _ => Err(io::Error::other("the child has no pipes")),
    }
}

pub(super) use platform::Group;

#[cfg(unix)]
mod platform {
    use super::{Command, ExitStatus, Server, io, pipes, thread};
    use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
    use std::os::unix::process::CommandExt as _;

    /// The process group of a server.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Group(Option<Pid>);

    impl Group {
        /// Asks all its processes to end.
        pub(in super::super) fn terminate(&self) {
            self.signal(Signal::TERM);
        }

        /// Ends them.
        pub(in super::super) fn kill(&self) {
            self.signal(Signal::KILL);
        }

        /// Whether any process is left in it.
        pub(in super::super) fn is_alive(&self) -> bool {
            self.0
                .is_some_and(|group| test_kill_process_group(group).is_ok())
        }

        fn signal(&self, signal: Signal) {
            if let Some(group) = self.0 {
                // A group without processes is what was wanted.
                let _ = kill_process_group(group, signal);
            }
        }
    }

    pub(super) fn start(
        mut command: Command,
        exited: impl FnOnce(io::Result<ExitStatus>) + Send + 'static,
    ) -> io::Result<Server> {
        let mut child = command.process_group(0).spawn()?;
        let id = i32::try_from(child.id()).ok();
        let group = Group(id.and_then(Pid::from_raw));
        let server = pipes(
            child.stdin.take(),
            child.stdout.take(),
            child.stderr.take(),
            group,
        )?;
        thread::Builder::new()
            .name("server-wait".to_owned())
            .spawn(move || exited(child.wait()))?;
        Ok(server)
    }
}

#[cfg(windows)]
mod platform {
    use super::{Command, ExitStatus, Server, io, pipes, thread};
    use process_wrap::std::{ChildWrapper, CommandWrap, JobObject};
    use std::sync::{Arc, Mutex, PoisonError};
    use std::time::Duration;

    /// The job object of a server.
    #[derive(Clone, Debug)]
    pub(in super::super) struct Group(Arc<Mutex<Box<dyn ChildWrapper>>>);

    impl Group {
        /// Windows has no request to end that a process without a window understands.
        pub(in super::super) fn terminate(&self) {
            self.kill();
        }

        /// Ends all processes of the job.
        pub(in super::super) fn kill(&self) {
            let mut child = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            // One that has ended already is what was wanted.
            let _ = child.start_kill();
        }

        /// The job ends with its last handle, so nothing is left behind.
        pub(in super::super) fn is_alive(&self) -> bool {
            false
        }
    }

    pub(super) fn start(
        command: Command,
        exited: impl FnOnce(io::Result<ExitStatus>) + Send + 'static,
    ) -> io::Result<Server> {
        let mut child = CommandWrap::from(command).wrap(JobObject).spawn()?;
        let (stdin, stdout, stderr) = (
            child.stdin().take(),
            child.stdout().take(),
            child.stderr().take(),
        );
        let child = Arc::new(Mutex::new(child));
        let server = pipes(stdin, stdout, stderr, Group(Arc::clone(&child)))?;
        thread::Builder::new()
            .name("server-wait".to_owned())
            .spawn(move || {
                loop {
                    let looked = child
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .try_wait();
                    match looked {
                        Ok(None) => thread::sleep(Duration::from_millis(20)),
                        Ok(Some(status)) => return exited(Ok(status)),
                        Err(error) => return exited(Err(error)),
                    }
                }
            })?;
        Ok(server)
    }
}

/// The program as the operating system can start it.
#[cfg(not(windows))]
fn runnable(name: &OsString) -> OsString {
    name.clone()
}

/// On Windows only `.exe` is looked for by itself, and `npx` is a `npx.cmd`.
#[cfg(windows)]
fn runnable(name: &OsString) -> OsString {
    let directories: Vec<_> = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).collect())
        .unwrap_or_default();
    let extensions = std::env::var("PATHEXT").unwrap_or_else(|_| ".EXE;.CMD;.BAT;.COM".to_owned());
    let found = with_extension(name, &directories, &extensions, |path| path.is_file());
    found.map_or_else(|| name.clone(), std::path::PathBuf::into_os_string)
}

/// The file that a name without an extension means: beside the given directory if it has one,
/// and in one of `directories` otherwise.
#[cfg(any(windows, test))]
fn with_extension(
    name: &OsString,
    directories: &[std::path::PathBuf],
    extensions: &str,
    exists: impl Fn(&std::path::Path) -> bool,
) -> Option<std::path::PathBuf> {
    use std::path::Path;
    let path = Path::new(name);
    let extensions = || {
        extensions
            .split(';')
            .filter(|extension| !extension.is_empty())
    };
    let has_one = path.extension().is_some_and(|own| {
        let own = format!(".{}", own.to_string_lossy());
        extensions().any(|extension| extension.eq_ignore_ascii_case(&own))
    });
    let candidates = |base: &Path| {
        let with = |extension: &str| {
            let mut file = base.as_os_str().to_owned();
            file.push(extension.to_ascii_lowercase());
            std::path::PathBuf::from(file)
        };
        match has_one {
            true => vec![base.to_owned()],
            false => extensions().map(with).collect(),
        }
    };
    if path.components().count() > 1 {
        return candidates(path).into_iter().find(|file| exists(file));
    }
    let mut bases = directories.iter().map(|directory| directory.join(path));
    bases.find_map(|base| candidates(&base).into_iter().find(|file| exists(file)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::{Path, PathBuf};

    #[test]
    fn a_script_is_found_by_its_name_alone() {
        let directories = [PathBuf::from("a"), PathBuf::from("b")];
        let files = ["a/npx", "b/npx.cmd", "b/node.exe", "tools/x.bat"];
        let exists = |path: &Path| files.iter().any(|file| Path::new(file) == path);
        let find = |name: &str| {
            let found = with_extension(&name.into(), &directories, ".COM;.EXE;.BAT;.CMD", exists);
            found.map(|path| path.to_string_lossy().replace('\\', "/"))
        };
        assert_eq!(find("npx").as_deref(), Some("b/npx.cmd"));
        assert_eq!(find("npx.cmd").as_deref(), Some("b/npx.cmd"));
        assert_eq!(find("node").as_deref(), Some("b/node.exe"));
        assert_eq!(find("tools/x").as_deref(), Some("tools/x.bat"));
        assert_eq!(find("none"), None);
    }
}
