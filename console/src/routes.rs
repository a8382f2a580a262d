//! Which answer belongs to which request.
//!
//! ```text
//! GET  /, /assets/*            the page, the same for everybody
//! GET  /healthz, /readyz       is the process there, does the server take clients
//! GET  /metrics                metrics; see `metrics` about who may read what
//! GET  /advice                 findings of the query doctor, for an account with PROCESS (`Authorization: Basic`, or a login)
//! POST /api/login              user and password: a cookie, and the token for changes
//! GET  /api/...                rows, for whoever is logged in
//! POST /api/...                changes, which need the token too
//! ```
//! P1: behind `/api/` nothing is answered without a login but `/api/login`; a change needs the token of the page and a request of the
//!     page itself.
//! P2: on an address of this machine alone a request must name this machine: a page of another site whose name points here does not
//!     get through.

use crate::logins::{Login, Refusal};
use crate::problem::{Problem, logged_out, refused_login};
use crate::request::{Method, Request, Response};
use crate::state::State;
use crate::{assets, metrics, pages};
use serde_json::{Value, json};

impl State {
    /// Answers a request.
    pub async fn answer(&self, request: &Request) -> Response {
        // P2
        if self.is_local && !request.names_loopback() {
            return Response::error(421, "this console is reached by 'localhost' or an address of this machine only");
        }
        match request.method {
            // The writer of HTTP leaves the body out for HEAD.
            Method::Get | Method::Head => self.get(request).await,
            Method::Post => self.post(request).await,
            Method::Other => Response::error(405, "only GET, HEAD and POST are known").with("allow", "GET, HEAD, POST"),
        }
    }

    async fn get(&self, request: &Request) -> Response {
        match request.path.as_str() {
            "/healthz" => Response::text(200, "ok\n"),
            "/readyz" if self.server.is_stopping() => Response::text(503, "stopping\n"),
            "/readyz" => Response::text(200, "ready\n"),
            "/metrics" => metrics::answer(self, request).await,
            "/advice" => self.advice(request).await,
            path => match path.strip_prefix("/api/") {
                Some(page) => self.page(request, page).await,
                None => assets::find(request).unwrap_or_else(|| Response::error(404, "there is no such page")),
            },
        }
    }

    /// Findings as JSON.
    async fn advice(&self, request: &Request) -> Response {
        let statement = pages::advice::statement_for_programs();
        let made = if let Some((user, password)) = request.basic() {
            match self.logins.connect(&user, &password, request.peer).await {
                Ok(mut client) => client.query(&statement).await.map_err(Refusal::from),
                Err(refusal) => return metrics::challenge(refused_login(&refusal)),
            }
        } else if let Some(login) = self.logins.of(request) {
            match login.check().await {
                Ok(()) => login.query(&statement).await,
                Err(_) => return metrics::challenge(logged_out()),
            }
        } else {
            return metrics::challenge(logged_out());
        };
        match made {
            Ok(rows) => Response::json(&json!({ "findings": rows.objects() })).with("vary", "authorization, cookie"),
            Err(Refusal::Sql { number, message }) => {
                Response { status: 422, ..Response::json(&json!({ "error": message, "number": number })) }
            }
            Err(_) => Response::error(503, "the server takes too long; try again"),
        }
    }

    /// P1
    async fn page(&self, request: &Request, page: &str) -> Response {
        let Some(login) = self.logins.of(request) else { return logged_out() };
        let made = match login.check().await {
            Ok(()) => pages::rows(self, &login, page, request).await,
            Err(refusal) => Err(refusal.into()),
        };
        self.finish(&login, made)
    }

    async fn post(&self, request: &Request) -> Response {
        let Some(page) = request.path.strip_prefix("/api/") else { return Response::error(404, "there is no such page") };
        if !request.is_same_origin() {
            return Response::error(403, "the request comes from another site");
        }
        if page == "login" {
            return self.log_in(request).await;
        }
        let Some(login) = self.logins.of(request) else { return logged_out() };
        if !protocol::auth::same(login.csrf.as_bytes(), request.headers.csrf.as_bytes()) {
            return Response::error(403, "the token of the page is missing or wrong");
        }
        if page == "logout" {
            return Response::json(&json!({})).with("set-cookie", self.logins.end(&login));
        }
        let Some(body) = request.json() else { return Response::error(400, "a JSON object is needed") };
        let made = pages::change(&login, page, &body).await;
        self.finish(&login, made)
    }

    async fn log_in(&self, request: &Request) -> Response {
        let body = request.json();
        let text = |name: &str| body.as_ref()?.get(name)?.as_str().map(str::to_owned);
        let (Some(user), Some(password)) = (text("user"), text("password")) else {
            return Response::error(400, "a JSON object with 'user' and 'password' is needed");
        };
        match self.logins.begin(&user, &password, request.peer).await {
            Ok((login, cookie)) => Response::json(&self.about(&login)).with("set-cookie", cookie),
            Err(refusal) => refused_login(&refusal),
        }
    }

    fn finish(&self, login: &Login, made: Result<Value, Problem>) -> Response {
        match made {
            Ok(value) => Response::json(&value),
            Err(Problem::Unknown) => Response::error(404, "there is no such page"),
            Err(Problem::Wrong(what)) => Response::error(400, what),
            Err(Problem::Refused(Refusal::Busy)) => Response::error(503, "the server takes too long; try again"),
            Err(Problem::Refused(Refusal::Sql { number, message })) => {
                Response { status: 422, ..Response::json(&json!({ "error": message, "number": number })) }
            }
            Err(Problem::Refused(Refusal::LoggedOut | Refusal::NoProcess)) => {
                logged_out().with("set-cookie", self.logins.end(login))
            }
        }
    }
}
