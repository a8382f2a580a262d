//! Pages of a web site, as an application's object mapper asks for them: lists with their authors, counts, an article with its comments,
//! and one visitor in twenty who writes a comment. An event is a page: what a visitor waits for.
//!
//! | page | of 100 | statements |
//! |---|--:|---|
//! | front page | 40 | the twenty newest articles with their authors; how many articles there are |
//! | article | 35 | the article with its author, its comments with theirs, how many it has |
//! | author | 20 | the author, the author's newest articles, how many |
//! | comment | 5 | in a transaction: the article's row locked, a comment added, the count changed |

use super::{Event, Filler, Place, Script, Settings, Statement, Workload};
use crate::client::Client;
use crate::error::Result;
use crate::random::{Keys, Random};
use crate::target::Dialect;

const COMMENTS_PER_ARTICLE: u64 = 5;
const ARTICLES_PER_AUTHOR: u64 = 20;
const BODY: &str = "@@@@ @@ @@@@@@@ @@@@ @@@@@@ @@@ @@@@ @@@@@@@@ @@ @@@@ @@@@@@ @@@@@ @@@@ @@@ @@@@@@ @@@@@";
const TITLE: &str = "@@@@ @@@@@@ @@@ @@@@@@@";

const NEWEST: u32 = 0;
const ALL: u32 = 1;
const ARTICLE: u32 = 2;
const COMMENTS: u32 = 3;
const COMMENT_COUNT: u32 = 4;
const AUTHOR: u32 = 5;
const OF_AUTHOR: u32 = 6;
const AUTHOR_COUNT: u32 = 7;
const BEGIN: u32 = 8;
const LOCK: u32 = 9;
const ADD: u32 = 10;
const COUNT_UP: u32 = 11;
const COMMIT: u32 = 12;

/// The web site.
pub struct Pages {
    articles: u64,
    authors: u64,
    keys: Keys,
}

impl Pages {
    pub fn new(settings: &Settings) -> Self {
        let articles = (settings.rows * u64::from(settings.tables) / 10).max(100);
        Self { articles, authors: (articles / ARTICLES_PER_AUTHOR).max(1), keys: Keys::new(articles, settings.distribution) }
    }
}

impl Workload for Pages {
    fn prepare(&self, client: &mut Client, dialect: Dialect, tell: &mut dyn FnMut(f64) -> Result<()>) -> Result<()> {
        let id = if dialect == Dialect::Postgres { "SERIAL PRIMARY KEY" } else { "INT NOT NULL AUTO_INCREMENT PRIMARY KEY" };
        for table in [
            format!("CREATE TABLE author (id {id}, name VARCHAR(60) NOT NULL, joined INT NOT NULL)"),
            format!(
                "CREATE TABLE article (id {id}, author_id INT NOT NULL, title VARCHAR(120) NOT NULL, body TEXT NOT NULL, \
                 published INT NOT NULL, comments INT NOT NULL)"
            ),
            format!(
                "CREATE TABLE remark (id {id}, article_id INT NOT NULL, author_id INT NOT NULL, body TEXT NOT NULL, written INT NOT NULL)"
            ),
        ] {
            client.run(&table)?;
        }
        let mut random = Random::new(1);
        let mut text = |pattern: &str| {
            let mut out = Vec::new();
            random.pattern(pattern, &mut out);
            String::from_utf8(out).expect("letters")
        };
        let mut filler = Filler::new(client, "INSERT INTO author (name, joined) VALUES ".into());
        for author in 0..self.authors {
            filler.row(format_args!("'{}',{author}", text(TITLE)))?;
        }
        filler.send()?;
        let mut filler = Filler::new(client, "INSERT INTO article (author_id, title, body, published, comments) VALUES ".into());
        for article in 0..self.articles {
            let author = article * 7919 % self.authors + 1;
            filler.row(format_args!(
                "{author},'{}','{} {}',{article},{COMMENTS_PER_ARTICLE}",
                text(TITLE),
                text(BODY),
                text(BODY)
            ))?;
            if article % 1000 == 0 {
                tell(0.3 * article as f64 / self.articles as f64)?;
            }
        }
        filler.send()?;
        let mut filler = Filler::new(client, "INSERT INTO remark (article_id, author_id, body, written) VALUES ".into());
        for remark in 0..self.articles * COMMENTS_PER_ARTICLE {
            let (article, author) = (remark % self.articles + 1, remark * 31 % self.authors + 1);
            filler.row(format_args!("{article},{author},'{}',{remark}", text(BODY)))?;
            if remark % 1000 == 0 {
                tell(0.3 + 0.7 * remark as f64 / (self.articles * COMMENTS_PER_ARTICLE) as f64)?;
            }
        }
        filler.send()?;
        for index in [
            "CREATE INDEX newest ON article (published)",
            "CREATE INDEX of_author ON article (author_id, published)",
            "CREATE INDEX of_article ON remark (article_id)",
        ] {
            client.run(index)?;
        }
        if dialect == Dialect::Postgres {
            client.run("VACUUM ANALYZE")?;
        }
        Ok(())
    }

    fn statements(&self, _: Dialect) -> Vec<Statement> {
        vec![
            Statement::new(
                "newest articles",
                "SELECT article.id, title, published, comments, name FROM article JOIN author ON author.id = author_id \
                 ORDER BY published DESC LIMIT 20",
            ),
            Statement::new("count of articles", "SELECT COUNT(*) FROM author"),
            Statement::new(
                "article",
                "SELECT article.*, name FROM article JOIN author ON author.id = author_id WHERE article.id = ?",
            ),
            Statement::new(
                "comments",
                "SELECT remark.id, body, written, name FROM remark JOIN author ON author.id = author_id WHERE article_id = ? ORDER BY remark.id",
            ),
            Statement::new("count of comments", "SELECT COUNT(*) FROM remark WHERE article_id = ?"),
            Statement::new("author", "SELECT * FROM author WHERE id = ?"),
            Statement::new(
                "articles of an author",
                "SELECT id, title, published, comments FROM article WHERE author_id = ? ORDER BY published DESC LIMIT 20",
            ),
            Statement::new("count of an author's", "SELECT COUNT(*) FROM article WHERE author_id = ?"),
            Statement::text("begin", "BEGIN"),
            Statement::new("lock the article", "SELECT comments FROM article WHERE id = ? FOR UPDATE"),
            Statement::new("add a comment", "INSERT INTO remark (article_id, author_id, body, written) VALUES (?, ?, ?, ?)"),
            Statement::new("count up", "UPDATE article SET comments = comments + 1 WHERE id = ?"),
            Statement::text("commit", "COMMIT"),
        ]
    }

    fn script(&self, _: Place, _: Dialect) -> Box<dyn Script> {
        Box::new(OneVisitor { authors: self.authors, keys: self.keys.clone() })
    }

    fn data(&self) -> String {
        "pages".into()
    }

    fn conditions(&self) -> Vec<(String, String)> {
        vec![(
            "an article's count is that of its comments".into(),
            "SELECT COUNT(*) FROM article LEFT JOIN (SELECT article_id, COUNT(*) AS found FROM remark GROUP BY article_id) r \
             ON article_id = article.id WHERE comments <> COALESCE(found, 0)"
                .into(),
        )]
    }
}

struct OneVisitor {
    authors: u64,
    keys: Keys,
}

impl Script for OneVisitor {
    fn event(&mut self, random: &mut Random, event: &mut Event) {
        let article = self.keys.draw(random);
        let author = random.number(1, self.authors);
        match random.below(100) {
            0..40 => {
                event.call(NEWEST);
                event.call(ALL);
            }
            40..75 => {
                [ARTICLE, COMMENTS, COMMENT_COUNT].into_iter().for_each(|statement| _ = event.call(statement).int(article));
            }
            75..95 => {
                [AUTHOR, OF_AUTHOR, AUTHOR_COUNT].into_iter().for_each(|statement| _ = event.call(statement).int(author));
            }
            _ => {
                event.call(BEGIN);
                event.call(LOCK).int(article);
                event.call(ADD).int(article).int(author).pattern(random, BODY).int(0);
                event.call(COUNT_UP).int(article);
                event.call(COMMIT);
            }
        }
    }
}
