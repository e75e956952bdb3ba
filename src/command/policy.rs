//! What a command of the gate goes by: flags, configuration and packs put together,
//! from the working tree alone or judged against the base.

use super::Context;
use super::select::Globs;
use crate::config::policy as merging;
use crate::config::{self, Accept, Check, Config, LintFlags, LintSettings, RuleList};
use crate::lint::packs::{self, PackSet, PackSource};
use crate::lint::{self, LintError, valid_ids};
use std::path::{Path, PathBuf};

/// Reads a file of the base side, by its path relative to the working directory.
/// `None` if the base has nothing there; an error if it has and it cannot be read.
pub(crate) type ReadBase<'a> = dyn Fn(&Path) -> Result<Option<Vec<u8>>, String> + 'a;

/// What a run is asked to go by.
#[derive(Clone, Debug)]
pub(crate) struct Asked<'a> {
    pub(crate) flags: &'a LintFlags,
    /// Configuration files are not looked for.
    pub(crate) no_config: bool,
    /// Findings that the baseline has too count as well.
    pub(crate) all: bool,
}

/// What a run goes by.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) settings: LintSettings,
    pub(crate) engine: lint::Settings,
    /// The configuration file, as it is shown, if there is one.
    pub(crate) config: Option<PathBuf>,
    /// What `[check] cassettes` says, of each side that counts.
    pub(crate) cassettes: Vec<Globs>,
    /// `[check] checks`
    pub(crate) checks: Option<Vec<Check>>,
    /// What the reader should know of where it comes from.
    pub(crate) notes: Vec<String>,
}

impl Policy {
    /// The policy of the working tree, which its configuration states.
    pub(crate) fn of_head(
        config: Config,
        asked: &Asked<'_>,
        context: &Context,
    ) -> Result<Policy, String> {
        let settings = LintSettings::merge(&config, asked.flags);
        let packs = load_packs(&read_packs(&settings.pattern_packs)?)?;
        let engine = engine(&settings, &[], asked, context, packs)
            .map_err(|error| explain(error, &[&settings], &[&config]))?;
        Ok(Policy {
            engine,
            settings,
            cassettes: vec![globs(&config)],
            checks: config.check.checks,
            config: Some(config.path).filter(|path| !path.as_os_str().is_empty()),
            notes: Vec::new(),
        })
    }

    /// The policy of the base, and that of the working tree where it is stricter: a
    /// change cannot relax the gate that it has to pass.
    pub(crate) fn of_base(
        head_config: &Config,
        asked: &Asked<'_>,
        context: &Context,
        read: &ReadBase<'_>,
    ) -> Result<Policy, String> {
        let base_config = base_config(asked, context, read)?;
        let head = LintSettings::merge(head_config, asked.flags);
        let base = LintSettings::merge(&base_config, asked.flags);
        let (packs, mut notes) = both_packs(&merging::packs(&base, &head), read)?;
        let known = valid_ids(&packs);
        for side in [&base, &head] {
            check_ids(&side.select, &known)?;
            check_ids(&side.ignore, &known)?;
        }
        let settings = merging::stricter(&base, &head, &known);
        let pending = merging::pending(&base, &head);
        let engine = engine(&settings, &pending, asked, context, packs)
            .map_err(|error| explain(error, &[&base, &head], &[&base_config, head_config]))?;
        if *head_config != base_config {
            notes.push(
                "the configuration of this change differs from that of the base and counts only \
                 where it is stricter"
                    .to_owned(),
            );
        }
        let mut cassettes = vec![globs(&base_config)];
        let own = globs(head_config);
        if !cassettes.contains(&own) {
            cassettes.push(own);
        }
        Ok(Policy {
            engine,
            settings,
            cassettes,
            checks: merging::checks(&base_config, head_config),
            config: Some(base_config.path).filter(|path| !path.as_os_str().is_empty()),
            notes,
        })
    }
}

/// The configuration of the working tree; empty if there is none, or none is wanted.
pub(crate) fn head_config(asked: &Asked<'_>, context: &Context) -> Result<Config, String> {
    if asked.no_config {
        return Ok(Config::default());
    }
    let found = config::discover(&context.directory).map_err(|error| error.to_string())?;
    Ok(found.unwrap_or_default())
}

fn globs(config: &Config) -> Globs {
    let globs = config.check.cassettes.clone();
    Globs {
        relative_to: match &globs {
            Some(_) => config.path.parent().map(Path::to_owned).unwrap_or_default(),
            None => PathBuf::new(),
        },
        globs,
    }
}

/// The packs as the base has them, and those patterns of the change that the base
/// has under no name; with what the reader should know of that.
fn both_packs(paths: &[PathBuf], read: &ReadBase<'_>) -> Result<(PackSet, Vec<String>), String> {
    let mut notes = Vec::new();
    let (mut trusted, mut proposed) = (Vec::new(), Vec::new());
    for path in paths {
        let Some(bytes) = read(path)? else {
            trusted.push(from_disk(path)?);
            continue;
        };
        let name = path.display().to_string();
        // One that is gone here has nothing to add.
        let own = lint::read_pack(path).ok();
        if own.as_ref() != Some(&bytes) {
            notes.push(format!(
                "{name}: the pattern pack of the base is used, and of the one of this change \
                 only the patterns that it adds"
            ));
            proposed.extend(own.map(|own| (name.clone(), own)));
        }
        trusted.push((name, bytes));
    }
    let mut packs = load_packs(&trusted)?;
    for pack in proposed {
        packs.add_missing(load_packs(&[pack])?);
    }
    Ok((packs, notes))
}

fn load_packs(files: &[(String, Vec<u8>)]) -> Result<PackSet, String> {
    let sources: Vec<PackSource<'_>> = files
        .iter()
        .map(|(name, bytes)| PackSource { name, bytes })
        .collect();
    packs::load(&sources).map_err(|error| error.to_string())
}

/// The nearest configuration of the base, looked for in the same directories.
fn base_config(
    asked: &Asked<'_>,
    context: &Context,
    read: &ReadBase<'_>,
) -> Result<Config, String> {
    if asked.no_config {
        return Ok(Config::default());
    }
    for candidate in config::candidates(&context.directory) {
        let Some(bytes) = read(&candidate)? else {
            continue;
        };
        let parsed = config::parse(&candidate, &bytes);
        let in_base = |error| format!("on the base side: {error}");
        if let Some(config) = parsed.map_err(|error| in_base(error.to_string()))? {
            return Ok(config);
        }
    }
    Ok(Config::default())
}

fn read_packs(paths: &[PathBuf]) -> Result<Vec<(String, Vec<u8>)>, String> {
    paths.iter().map(|path| from_disk(path)).collect()
}

fn from_disk(path: &Path) -> Result<(String, Vec<u8>), String> {
    let name = path.display().to_string();
    match lint::read_pack(path) {
        Ok(bytes) => Ok((name, bytes)),
        Err(error) => Err(error.to_string()),
    }
}

/// The settings of the engine. Whether accept entries name rules can be told only
/// once the packs are loaded.
fn engine(
    settings: &LintSettings,
    pending: &[Accept],
    asked: &Asked<'_>,
    context: &Context,
    packs: PackSet,
) -> Result<lint::Settings, LintError> {
    let entry = |entry: &Accept| lint::Accept {
        rule: entry.rule.clone(),
        fingerprint: entry.fingerprint.clone(),
        reason: entry.reason.clone(),
        expires: entry.expires.clone(),
    };
    let options = lint::Options {
        select: settings.select.ids.clone(),
        ignore: settings.ignore.ids.clone(),
        pattern_packs: Vec::new(),
        baseline: None,
        entropy: lint::Entropy {
            enabled: settings.entropy.enabled,
            min_bits: settings.entropy.min_bits,
            min_length: settings.entropy.min_length,
            allow: settings.entropy.allow.clone(),
        },
        accept: settings.accept.iter().map(entry).collect(),
        all: asked.all,
        today: Some(context.today.clone()),
    };
    let mut engine = lint::Settings::with_packs(&options, packs)?;
    engine.pending = pending.iter().map(entry).collect();
    Ok(engine)
}

/// For a rule that there is none of: which one, and where it was asked for.
fn explain(error: LintError, settings: &[&LintSettings], configs: &[&Config]) -> String {
    let LintError::UnknownRule { valid, .. } = error else {
        return error.to_string();
    };
    let lists = settings
        .iter()
        .flat_map(|side| [&side.select, &side.ignore]);
    let asked = lists
        .into_iter()
        .find_map(|list| check_ids(list, &valid).err());
    let accepted = || {
        configs.iter().find_map(|config| {
            let checked = config.check_accepted_rules(&valid);
            checked.err().map(|error| error.to_string())
        })
    };
    asked
        .or_else(accepted)
        .unwrap_or_else(|| "unknown rule id".to_owned())
}

/// A misspelt id would select nothing, or ignore nothing, without a word.
fn check_ids(list: &RuleList, known: &[String]) -> Result<(), String> {
    let unknown: Vec<&String> = list.ids.iter().filter(|id| !known.contains(id)).collect();
    let Some(first) = unknown.first() else {
        return Ok(());
    };
    let quoted: Vec<String> = unknown.iter().map(|id| format!("'{id}'")).collect();
    let hint = config::nearest(
        &first.to_ascii_uppercase(),
        known.iter().map(String::as_str),
    )
    .map(|id| format!(" (did you mean \"{id}\"?)"))
    .unwrap_or_default();
    Err(format!(
        "unknown rule id {} in {}{hint}; valid ids: {}",
        quoted.join(", "),
        list.origin,
        known.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_ids_are_quoted_and_valid_ones_are_not_blamed() {
        let known = ["R001".to_owned(), "R002".to_owned()];
        let list = RuleList {
            ids: vec!["R001".into(), "R0001".into(), "r002".into()],
            origin: "--select".into(),
        };
        assert_eq!(
            check_ids(&list, &known),
            Err(
                "unknown rule id 'R0001', 'r002' in --select (did you mean \"R001\"?); \
                 valid ids: R001, R002"
                    .into()
            )
        );
    }
}
