//! The libraries in the program, as CycloneDX 1.5 in JSON (<https://cyclonedx.org/docs/1.5/json/>).
//!
//! `cargo metadata` says which packages the program depends on, not counting those for tests and for building; `Cargo.lock` has their
//! checksums.

use crate::proc::{cargo, quiet};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Writes `heddle_VERSION.cdx.json`.
pub fn write(root: &Path, out: &Path, version: &str) -> Result<PathBuf, String> {
    let mut metadata = cargo(root, &["metadata", "--format-version", "1", "--locked", "--filter-platform", &host()?]);
    let output = metadata.output().map_err(|e| format!("cargo metadata: {e}"))?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)));
    }
    let metadata: Value = serde_json::from_slice(&output.stdout).map_err(|e| format!("cargo metadata: {e}"))?;
    let lock = fs::read_to_string(root.join("Cargo.lock")).map_err(|e| format!("Cargo.lock: {e}"))?;
    let list = document(&metadata, &checksums(&lock)?, version)?;
    let path = out.join(format!("heddle_{version}.cdx.json"));
    let text = serde_json::to_string_pretty(&list).map_err(|e| e.to_string())?;
    fs::write(&path, text + "\n").map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// The platform of the compiler.
fn host() -> Result<String, String> {
    let text = quiet(std::process::Command::new("rustc").arg("-vV"))?;
    let line = text.lines().find_map(|line| line.strip_prefix("host: "));
    line.map(str::to_owned).ok_or_else(|| "rustc does not say its host".to_owned())
}

/// SHA-256 of each package of a registry, by name and version.
fn checksums(lock: &str) -> Result<BTreeMap<(String, String), String>, String> {
    let lock: toml::Table = lock.parse().map_err(|e| format!("Cargo.lock: {e}"))?;
    let packages = lock.get("package").and_then(toml::Value::as_array).cloned().unwrap_or_default();
    let text = |package: &toml::Value, key: &str| Some(package.get(key)?.as_str()?.to_owned());
    Ok(packages.iter().filter_map(|p| Some(((text(p, "name")?, text(p, "version")?), text(p, "checksum")?))).collect())
}

fn document(metadata: &Value, checksums: &BTreeMap<(String, String), String>, version: &str) -> Result<Value, String> {
    let packages: BTreeMap<&str, &Value> = array(&metadata["packages"]).map(|package| (text(&package["id"]), package)).collect();
    let nodes: BTreeMap<&str, &Value> = array(&metadata["resolve"]["nodes"]).map(|node| (text(&node["id"]), node)).collect();
    let is_program = |package: &&&Value| text(&package["name"]) == "heddle" && package["source"].is_null();
    let program = packages.values().find(is_program).ok_or("cargo metadata has no package heddle")?;
    let mut reached: BTreeSet<&str> = BTreeSet::new();
    let mut next = vec![text(&program["id"])];
    while let Some(id) = next.pop() {
        if reached.insert(id) {
            next.extend(nodes.get(id).into_iter().flat_map(|node| needed(node)));
        }
    }
    let reference = |id: &str| packages.get(id).map(|package| purl(package)).unwrap_or_default();
    let own = text(&program["id"]);
    let components: Vec<Value> = reached
        .iter()
        .filter(|id| **id != own)
        .filter_map(|id| packages.get(id))
        .map(|package| component(package, checksums))
        .collect();
    let dependencies: Vec<Value> = reached
        .iter()
        .filter_map(|id| nodes.get(id).map(|node| (id, node)))
        .map(|(id, node)| {
            let on: BTreeSet<String> = needed(node).map(reference).collect();
            json!({ "ref": reference(id), "dependsOn": on })
        })
        .collect();
    Ok(json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": { "component": {
            "type": "application", "bom-ref": reference(own), "name": "heddle", "version": version,
            "licenses": [{ "expression": text(&program["license"]) }],
        } },
        "components": components,
        "dependencies": dependencies,
    }))
}

/// The packages that one is linked with.
fn needed(node: &Value) -> impl Iterator<Item = &str> {
    let is_normal = |dependency: &&Value| array(&dependency["dep_kinds"]).any(|kind| kind["kind"].is_null());
    array(&node["deps"]).filter(is_normal).map(|dependency| text(&dependency["pkg"]))
}

fn component(package: &Value, checksums: &BTreeMap<(String, String), String>) -> Value {
    let (name, version) = (text(&package["name"]), text(&package["version"]));
    let mut component = json!({ "type": "library", "bom-ref": purl(package), "name": name, "version": version });
    if package["source"].is_string() {
        component["purl"] = purl(package).into();
    }
    if let Some(license) = package["license"].as_str() {
        component["licenses"] = json!([{ "expression": license.replace('/', " OR ") }]);
    }
    if let Some(sum) = checksums.get(&(name.to_owned(), version.to_owned())) {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": sum }]);
    }
    component
}

fn purl(package: &Value) -> String {
    format!("pkg:cargo/{}@{}", text(&package["name"]), text(&package["version"]))
}

fn array(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Reads a list again: what must hold of it.
pub fn check(path: &Path) -> Result<Vec<(&'static str, bool)>, String> {
    let list = fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let list: Value = serde_json::from_str(&list).map_err(|e| format!("{}: {e}", path.display()))?;
    let components: Vec<&Value> = array(&list["components"]).collect();
    let has = |name: &str| components.iter().any(|component| text(&component["name"]) == name);
    let references: BTreeSet<&str> = components.iter().map(|component| text(&component["bom-ref"])).collect();
    let has_sum = |component: &&Value| component["purl"].is_null() || component["hashes"].is_array();
    let own = text(&list["metadata"]["component"]["bom-ref"]);
    let mut used = array(&list["dependencies"]).flat_map(|dependency| array(&dependency["dependsOn"]));
    Ok(vec![
        ("the list has libraries of the program", has("rustls") && has("clap") && has("storage")),
        ("the list has no libraries of tests", !has("proptest") && !has("sqllogictest")),
        ("each library of a registry has a checksum", components.iter().all(has_sum)),
        (
            "each library that is used is in the list",
            used.all(|reference| references.contains(text(reference)) || text(reference) == own),
        ),
    ])
}
