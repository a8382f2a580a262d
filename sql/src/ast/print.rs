//! Prints trees back as text.
