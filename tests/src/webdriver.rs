//! WebDriver, as far as the tests need it: chromedriver as a child, and its JSON over HTTP.

use crate::http::Browser;
use crate::server::free_port;
use serde_json::{Value, json};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long an element may take to come.
const PATIENCE: Duration = Duration::from_secs(30);
const START_MAX: Duration = Duration::from_secs(30);

/// A headless Chromium.
pub struct Driver {
    child: Child,
    http: Browser,
    session: String,
}

impl Driver {
    /// Starts chromedriver and a browser with a profile of its own below `directory`.
    pub fn start(directory: &Path) -> Result<Self, String> {
        let port = free_port()?;
        let mut command = Command::new("chromedriver");
        command.arg(format!("--port={port}")).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let child = command.spawn().map_err(|error| format!("chromedriver: {error}"))?;
        let mut driver = Self { child, http: Browser::new(&format!("127.0.0.1:{port}")), session: String::new() };
        let until = Instant::now() + START_MAX;
        while driver.http.get("/status").is_err() {
            if Instant::now() > until {
                return Err("chromedriver does not answer".to_owned());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let profile = format!("--user-data-dir={}", directory.join("profile").display());
        let arguments =
            ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", &profile];
        let chrome = json!({ "args": arguments });
        let wanted = json!({ "browserName": "chrome", "goog:chromeOptions": chrome, "goog:loggingPrefs": { "browser": "ALL" } });
        let made = driver.ask("POST", "/session", &json!({ "capabilities": { "alwaysMatch": wanted } }))?;
        driver.session = made["sessionId"].as_str().ok_or("no session")?.to_owned();
        Ok(driver)
    }

    /// One command; the value of its answer.
    fn ask(&self, method: &str, path: &str, body: &Value) -> Result<Value, String> {
        let answer = match method {
            "POST" => self.http.post_with(path, &body.to_string(), "")?,
            "DELETE" => self.http.exchange(&format!("DELETE {path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.http.address))?,
            _ => self.http.get(path)?,
        };
        let value = answer.json()?["value"].take();
        match answer.status {
            200 => Ok(value),
            status => Err(format!("{status} {path}: {}", value["message"].as_str().unwrap_or_default())),
        }
    }

    fn post(&self, path: &str, body: &Value) -> Result<Value, String> {
        self.ask("POST", &format!("/session/{}{path}", self.session), body)
    }

    pub fn open(&self, url: &str) -> Result<(), String> {
        self.post("/url", &json!({ "url": url })).map(drop)
    }

    pub fn resize(&self, width: u32, height: u32) -> Result<(), String> {
        // The window may have a frame of its own: the viewport is what counts.
        let device = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600 });
        self.post("/goog/cdp/execute", &json!({ "cmd": "Emulation.setDeviceMetricsOverride", "params": device })).map(drop)
    }

    /// Runs the body of a function in the page.
    pub fn run(&self, script: &str) -> Result<Value, String> {
        self.post("/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until an expression is true in the page.
    pub fn wait(&self, expression: &str) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        while self.run(&format!("return !!({expression})"))? != true {
            if Instant::now() > until {
                let text = self.run("return document.body.innerText")?;
                return Err(format!("{expression} did not become true: {}", text.as_str().unwrap_or_default()));
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn element(&self, selector: &str) -> Result<String, String> {
        self.wait(&format!("document.querySelector({})", json!(selector)))?;
        let found = self.post("/element", &json!({ "using": "css selector", "value": selector }))?;
        let id = found.as_object().and_then(|object| object.values().next()).and_then(Value::as_str);
        id.map(str::to_owned).ok_or_else(|| format!("{selector} is no element"))
    }

    /// Clicks as a person does: the element must be visible.
    pub fn click(&self, selector: &str) -> Result<(), String> {
        let element = self.element(selector)?;
        self.post(&format!("/element/{element}/click"), &json!({})).map(drop)
    }

    pub fn fill(&self, selector: &str, text: &str) -> Result<(), String> {
        let element = self.element(selector)?;
        self.post(&format!("/element/{element}/clear"), &json!({}))?;
        self.post(&format!("/element/{element}/value"), &json!({ "text": text })).map(drop)
    }

    /// The messages of the browser since the last call, errors of scripts and of the page's policy among them.
    pub fn messages(&self) -> Result<Vec<String>, String> {
        let all = self.post("/se/log", &json!({ "type": "browser" }))?;
        let text = |entry: &Value| format!("{} {}", entry["level"].as_str().unwrap_or_default(), entry["message"]);
        Ok(all.as_array().map(|all| all.iter().map(text).collect()).unwrap_or_default())
    }

    /// The visible part of the page, as a PNG in base 64.
    pub fn screenshot(&self) -> Result<String, String> {
        let made = self.ask("GET", &format!("/session/{}/screenshot", self.session), &Value::Null)?;
        made.as_str().map(str::to_owned).ok_or_else(|| "no picture".to_owned())
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Ends the browser; without an answer it ends with its driver.
        let _ = self.ask("DELETE", &format!("/session/{}", self.session), &Value::Null);
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
