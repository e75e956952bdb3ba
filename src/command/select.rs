//! Which cassettes a command is about: paths, directories and globs, matched in the
//! working tree and on the base side by the same rule, so that what was deleted or
//! renamed shows as well as what is there.

use globset::{GlobBuilder, GlobMatcher};
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use walkdir::WalkDir;

/// What is looked for where nobody says what, and below a directory.
const DEFAULT: &str = "**/*.mcp.json";
/// The end of the name of a cassette.
const SUFFIX: &[u8] = b".mcp.json";

/// Why it is not known which cassettes are meant.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SelectError {
    /// A pattern that is none.
    #[error("'{glob}' is not a valid glob: {problem}")]
    Glob { glob: String, problem: String },
    /// A directory that could not be searched. What is in it would be passed unseen.
    #[error("cannot search for cassettes: {0}")]
    Walk(#[from] walkdir::Error),
}

/// What a configuration says about which cassettes there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Globs {
    /// None stands for every cassette below the working directory.
    pub(crate) globs: Option<Vec<String>>,
    /// The directory of the configuration, relative to the working directory.
    pub(crate) relative_to: PathBuf,
}

/// The cassettes that are asked for.
#[derive(Debug)]
pub(crate) struct Selection {
    /// Absolute, without symbolic links.
    directory: PathBuf,
    files: Vec<PathBuf>,
    /// Arguments that are globs, or the names of files that only the other side has.
    perhaps: Vec<PathBuf>,
    globs: Vec<Glob>,
}

#[derive(Debug)]
struct Glob {
    shown: String,
    /// Where it leads in the working tree, symbolic links followed.
    real: Place,
    /// What it says, if that is another place: a change may have put a link where the
    /// other side still has the directory itself.
    said: Option<Place>,
}

/// A glob from some directory on.
#[derive(Debug)]
struct Place {
    /// For absolute paths.
    matcher: GlobMatcher,
    /// The directory below which everything lies that can match.
    start: PathBuf,
}

impl Selection {
    /// From arguments: a path that is there is that file, or every cassette below
    /// that directory; one with `*`, `?`, `[` or `{` that is not there is a glob; any
    /// other is a file that may have been deleted.
    pub(crate) fn of_arguments(
        arguments: &[PathBuf],
        directory: &Path,
    ) -> Result<Self, SelectError> {
        let mut selection = Selection::empty(directory);
        for argument in arguments {
            let there = directory.join(argument);
            let text = argument.to_str();
            if there.is_dir() {
                let shown = format!("{}/{DEFAULT}", argument.display());
                selection.add_glob(&shown, DEFAULT, &normal(&there))?;
            } else if let Some(glob) = text.filter(|text| {
                std::fs::symlink_metadata(&there).is_err() && text.contains(['*', '?', '[', '{'])
            }) {
                selection.add_glob(glob, glob, &selection.directory.clone())?;
                selection.perhaps.push(argument.clone());
            } else {
                selection.files.push(argument.clone());
            }
        }
        Ok(selection)
    }

    /// What one or more configurations say.
    pub(crate) fn of_globs(configured: &[Globs], directory: &Path) -> Result<Self, SelectError> {
        let mut selection = Selection::empty(directory);
        for configured in configured {
            let Some(globs) = &configured.globs else {
                selection.add_glob(DEFAULT, DEFAULT, &selection.directory.clone())?;
                continue;
            };
            let base = directory.join(&configured.relative_to);
            let base = base.canonicalize().unwrap_or(base);
            for glob in globs {
                selection.add_glob(glob, glob, &base)?;
            }
        }
        Ok(selection)
    }

    /// These files and no others, whether or not they are there.
    pub(crate) fn of_files(files: &[PathBuf], directory: &Path) -> Self {
        Selection {
            files: files.to_vec(),
            ..Selection::empty(directory)
        }
    }

    fn empty(directory: &Path) -> Self {
        Selection {
            directory: directory
                .canonicalize()
                .unwrap_or_else(|_| directory.to_owned()),
            files: Vec::new(),
            perhaps: Vec::new(),
            globs: Vec::new(),
        }
    }

    fn add_glob(&mut self, shown: &str, glob: &str, relative_to: &Path) -> Result<(), SelectError> {
        let (said, rest) = absolute(glob, relative_to);
        // A link to a directory of cassettes is followed where it is named.
        let real = said.canonicalize().unwrap_or_else(|_| said.clone());
        let place = |start: PathBuf| Place::new(start, &rest, shown);
        self.globs.push(Glob {
            said: (said != real).then(|| place(said)).transpose()?,
            real: place(real)?,
            shown: shown.to_owned(),
        });
        Ok(())
    }

    /// The files of the working tree, as they are to be shown: those that were named,
    /// whether or not they are there, then those that a glob found, sorted.
    pub(crate) fn working_files(&self) -> Result<Vec<PathBuf>, SelectError> {
        let mut seen: BTreeSet<PathBuf> = BTreeSet::new();
        let mut files = Vec::new();
        for file in &self.files {
            if seen.insert(normal(&self.directory.join(file))) {
                files.push(file.clone());
            }
        }
        let mut found: BTreeSet<PathBuf> = BTreeSet::new();
        for glob in &self.globs {
            glob.real.search(&mut found)?;
        }
        let found = found.into_iter().filter(|path| !seen.contains(path));
        files.extend(found.map(|path| self.shown(&path)));
        Ok(files)
    }

    /// Whether a file of the other side is meant, by its absolute path.
    pub(crate) fn wants(&self, path: &Path) -> bool {
        self.places().any(|place| place.matcher.is_match(path))
            || self
                .named()
                .any(|file| normal(&self.directory.join(file)) == path)
    }

    /// Directories below which everything lies that [`Selection::wants`] wants.
    pub(crate) fn starts(&self) -> BTreeSet<PathBuf> {
        let named = self.named().filter_map(|file| {
            let path = normal(&self.directory.join(file));
            path.parent().map(Path::to_owned)
        });
        named
            .chain(self.places().map(|place| place.start.clone()))
            .collect()
    }

    /// Whether files are looked for, and not only named.
    pub(crate) fn has_globs(&self) -> bool {
        !self.globs.is_empty()
    }

    fn named(&self) -> impl Iterator<Item = &PathBuf> {
        self.files.iter().chain(&self.perhaps)
    }

    fn places(&self) -> impl Iterator<Item = &Place> {
        self.globs
            .iter()
            .flat_map(|glob| std::iter::once(&glob.real).chain(&glob.said))
    }

    /// How a path is shown: relative to the working directory, with `..` where it
    /// is elsewhere.
    pub(crate) fn shown(&self, path: &Path) -> PathBuf {
        let mut upwards = PathBuf::new();
        for ancestor in self.directory.ancestors() {
            if let Ok(rest) = path.strip_prefix(ancestor) {
                return upwards.join(rest);
            }
            upwards.push("..");
        }
        path.to_owned()
    }

    /// How a file that was named is shown once it is gone.
    pub(crate) fn shown_as_named(&self, file: &Path) -> PathBuf {
        self.shown(&normal(&self.directory.join(file)))
    }

    /// The globs that match nothing in the working tree: a misspelt one would
    /// otherwise leave its cassettes out without a word.
    pub(crate) fn without_a_file<'s>(&'s self, files: &[PathBuf]) -> Vec<&'s str> {
        let paths: Vec<PathBuf> = files
            .iter()
            .map(|file| normal(&self.directory.join(file)))
            .collect();
        let empty = |glob: &&Glob| !paths.iter().any(|path| glob.real.matcher.is_match(path));
        let globs = self.globs.iter().filter(empty);
        globs.map(|glob| glob.shown.as_str()).collect()
    }

    /// What was asked for, for a message that nothing is there.
    pub(crate) fn describe(&self) -> String {
        let files = self.files.iter().map(|file| file.display().to_string());
        let globs = self.globs.iter().map(|glob| glob.shown.clone());
        files.chain(globs).collect::<Vec<_>>().join(", ")
    }
}

impl Place {
    fn new(start: PathBuf, rest: &[&str], shown: &str) -> Result<Self, SelectError> {
        let mut whole = globset::escape(&slashed(&start));
        for part in rest {
            whole.push('/');
            whole.push_str(part);
        }
        let glob = GlobBuilder::new(&whole).literal_separator(true).build();
        let glob = glob.map_err(|error| SelectError::Glob {
            glob: shown.to_owned(),
            problem: error.kind().to_string(),
        })?;
        Ok(Place {
            matcher: glob.compile_matcher(),
            start,
        })
    }

    /// Every file below `start` that matches. The administrative directory of git has
    /// no cassettes. A link to a directory elsewhere is followed once, because whoever
    /// opens a cassette by that path does the same. A directory that has the name
    /// of a cassette is found as well, so that it is told and not passed over.
    fn search(&self, found: &mut BTreeSet<PathBuf>) -> Result<(), SelectError> {
        if !self.start.is_dir() {
            // The glob may hold nothing but a name.
            let there = std::fs::symlink_metadata(&self.start).is_ok();
            if there && self.matcher.is_match(&self.start) {
                found.insert(self.start.clone());
            }
            return Ok(());
        }
        // Where links lead, so that no place is searched twice by way of them.
        let mut reached = BTreeSet::from([self.start.clone()]);
        let mut places = vec![self.start.clone()];
        while let Some(place) = places.pop() {
            let walk = WalkDir::new(&place).follow_root_links(true).into_iter();
            for entry in walk.filter_entry(|entry| entry.file_name() != OsStr::new(".git")) {
                let entry = entry?;
                let name = entry.file_name().as_encoded_bytes();
                let is_cassette = !entry.file_type().is_dir() || name.ends_with(SUFFIX);
                if is_cassette && self.matcher.is_match(entry.path()) {
                    found.insert(entry.path().to_owned());
                }
                if entry.path_is_symlink()
                    && entry.path() != place
                    && let Ok(real) = entry.path().canonicalize()
                    && real.is_dir()
                    // What lies below the start has been or will be come upon there.
                    && !real.starts_with(&self.start)
                    && reached.insert(real)
                {
                    places.push(entry.into_path());
                }
            }
        }
        Ok(())
    }
}

/// The directory that a glob begins with, joined to `relative_to`, and the parts from
/// the first one on that can match more than one name.
fn absolute<'g>(glob: &'g str, relative_to: &Path) -> (PathBuf, Vec<&'g str>) {
    let mut start = if glob.starts_with('/') {
        PathBuf::from("/")
    } else {
        relative_to.to_owned()
    };
    let mut rest = Vec::new();
    for part in glob.split('/') {
        match part {
            "" | "." => {}
            ".." if rest.is_empty() => {
                start.pop();
            }
            part if rest.is_empty() && !part.contains(['*', '?', '[', '{', '\\']) => {
                start.push(part);
            }
            part => rest.push(part),
        }
    }
    (start, rest)
}

/// Without `.` and `..`, and without a look at the file system.
pub(super) fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    out
}

fn slashed(path: &Path) -> String {
    let text = path.to_string_lossy();
    if cfg!(windows) {
        text.replace('\\', "/")
    } else {
        text.into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            let path = folder.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "{}").unwrap();
        }
        folder
    }

    fn arguments(arguments: &[&str], directory: &Path) -> Vec<String> {
        let arguments: Vec<PathBuf> = arguments.iter().map(PathBuf::from).collect();
        let selection = Selection::of_arguments(&arguments, directory).unwrap();
        let files = selection.working_files().unwrap();
        files
            .iter()
            .map(|file| file.display().to_string())
            .collect()
    }

    fn configured(glob: Option<&str>, relative_to: &str) -> Globs {
        Globs {
            globs: glob.map(|glob| vec![glob.to_owned()]),
            relative_to: relative_to.into(),
        }
    }

    #[test]
    fn what_one_configuration_adds_the_other_cannot_take_away() {
        let folder = tree(&["a.mcp.json", "t/b.json", "t/c.mcp.json"]);
        let globs = [configured(Some("t/*.json"), ""), configured(None, "")];
        let selection = Selection::of_globs(&globs, folder.path()).unwrap();
        let files = selection.working_files().unwrap();
        let all = ["a.mcp.json", "t/b.json", "t/c.mcp.json"];
        assert_eq!(files, all.map(PathBuf::from));
    }

    #[test]
    fn a_directory_with_the_name_of_a_cassette_is_found() {
        let folder = tree(&["a.mcp.json/b.txt", "t/u/c.json"]);
        assert_eq!(arguments(&["*"], folder.path()), ["a.mcp.json"]);
    }

    #[cfg(unix)]
    #[test]
    fn the_place_that_a_glob_names_is_wanted_besides_where_it_leads() {
        let folder = tree(&["evil/a.mcp.json"]);
        let root = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("evil", root.join("t")).unwrap();
        let glob = [PathBuf::from("t/*.mcp.json")];
        let selection = Selection::of_arguments(&glob, &root).unwrap();
        for path in ["evil/a.mcp.json", "t/a.mcp.json"] {
            assert!(selection.wants(&root.join(path)), "{path}");
            let covered = |start: &PathBuf| root.join(path).starts_with(start);
            assert!(selection.starts().iter().any(covered), "{path}");
        }
        assert_eq!(
            selection.working_files().unwrap(),
            [PathBuf::from("evil/a.mcp.json")]
        );
    }

    #[test]
    fn a_glob_finds_files_at_every_depth_and_never_in_git() {
        let folder = tree(&[
            "a.mcp.json",
            "t/b.mcp.json",
            "t/.hidden/c.mcp.json",
            "t/x.json",
            ".git/d.mcp.json",
        ]);
        let all = ["a.mcp.json", "t/.hidden/c.mcp.json", "t/b.mcp.json"];
        assert_eq!(arguments(&["**/*.mcp.json"], folder.path()), all);
        assert_eq!(arguments(&["."], folder.path()), all);
        assert_eq!(arguments(&["t"], folder.path()), &all[1..]);
        assert_eq!(
            arguments(&["t/*.mcp.json"], folder.path()),
            ["t/b.mcp.json"]
        );
        assert_eq!(
            arguments(&["./t/{b,c}.mcp.json"], folder.path()),
            ["t/b.mcp.json"]
        );
        let default = Selection::of_globs(&[configured(None, "")], folder.path()).unwrap();
        assert_eq!(default.working_files().unwrap().len(), 3);
    }

    #[test]
    fn a_file_that_is_there_is_never_a_glob() {
        let folder = tree(&["a[1].mcp.json", "a1.mcp.json"]);
        assert_eq!(
            arguments(
                &["a[1].mcp.json", "./a1.mcp.json", "a*.json"],
                folder.path()
            ),
            ["a[1].mcp.json", "./a1.mcp.json"]
        );
    }

    #[test]
    fn globs_reach_upwards_and_paths_are_shown_from_the_working_directory() {
        let folder = tree(&["a.mcp.json", "t/b.mcp.json", "[odd]/c.mcp.json"]);
        let directory = folder.path().join("t");
        assert_eq!(arguments(&["../*.mcp.json"], &directory), ["../a.mcp.json"]);
        let odd = folder.path().join("[odd]");
        assert_eq!(arguments(&["*.mcp.json"], &odd), ["c.mcp.json"]);
        let globs = [configured(Some("t/*.mcp.json"), "..")];
        let selection = Selection::of_globs(&globs, &directory).unwrap();
        assert_eq!(
            selection.working_files().unwrap(),
            [PathBuf::from("b.mcp.json")]
        );
    }

    #[test]
    fn what_is_gone_is_wanted_by_name_and_by_glob() {
        let folder = tree(&["t/b.mcp.json"]);
        let root = folder.path().canonicalize().unwrap();
        let given = [
            "gone.mcp.json",
            "t/../also.mcp.json",
            "t/*.mcp.json",
            "x[1].json",
        ];
        let given = given.map(PathBuf::from);
        let selection = Selection::of_arguments(&given, folder.path()).unwrap();
        for (path, wanted) in [
            ("gone.mcp.json", true),
            ("also.mcp.json", true),
            ("t/gone.mcp.json", true),
            ("x[1].json", true),
            ("x1.json", true),
            ("t/u/gone.mcp.json", false),
            ("other.mcp.json", false),
        ] {
            assert_eq!(selection.wants(&root.join(path)), wanted, "{path}");
            let covered = selection
                .starts()
                .iter()
                .any(|start| root.join(path).starts_with(start));
            assert!(covered || !wanted, "{path}");
        }
    }

    #[test]
    fn a_broken_glob_is_named() {
        let globs = [configured(Some("a{b"), "")];
        let error = Selection::of_globs(&globs, Path::new("/")).unwrap_err();
        assert!(
            error.to_string().starts_with("'a{b' is not a valid glob: "),
            "{error}"
        );
    }
}
