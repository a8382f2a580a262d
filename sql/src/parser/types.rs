//! Data types of columns, and the targets of CAST.

use super::{Parser, parse_int, uppercase};
use crate::ast::*;
use crate::deprecated::Deprecated;
use crate::error::{DefinitionError, Error, Result};
use crate::keyword::Keyword as K;
use crate::lexer::Token;
use std::ops::Range;
use types::geometry::GeometryKind;

impl<'a> Parser<'a> {
    /// A type with its attributes; stops at the attributes of the column.
    pub(super) fn data_type(&mut self, column: &str) -> Result<DataType<'a>> {
        let mut ty = DataType {
            name: TypeName::Year,
            unsigned: false,
            zerofill: false,
            charset: None,
            collation: None,
            binary: false,
            srid: None,
        };
        let is_bool = self.at_word("BOOL") || self.at_word("BOOLEAN");
        self.type_name(column, &mut ty)?;
        use TypeName as T;
        let mut is_unsigned = false;
        let is_number = matches!(
            ty.name,
            T::TinyInt(_) | T::SmallInt(_) | T::MediumInt(_) | T::Int(_) | T::BigInt(_) | T::Decimal { .. } | T::Float(_)
        ) || matches!(ty.name, T::Double(_) | T::Year);
        let is_text = matches!(
            ty.name,
            T::Char(_) | T::VarChar(_) | T::TinyText | T::Text(_) | T::MediumText | T::LongText | T::Enum(_) | T::Set(_)
        );
        loop {
            match self.token {
                _ if !is_number && !is_text => return Ok(ty),
                Token::Keyword(K::Unsigned) if is_number => {
                    is_unsigned = true;
                    ty.unsigned = true;
                }
                Token::Keyword(K::ZeroFill) if is_number => {
                    ty.zerofill = true;
                    ty.unsigned = true;
                }
                Token::Word(w) if is_number && w.eq_ignore_ascii_case(b"SIGNED") => {}
                _ if is_number => {
                    if !is_bool {
                        self.number_deprecations(&ty, is_unsigned);
                    }
                    return Ok(ty);
                }
                Token::Keyword(K::Binary) => {
                    self.deprecated_token(Deprecated::BinaryAttribute);
                    ty.binary = true;
                }
                Token::Word(w) if w.eq_ignore_ascii_case(b"ASCII") => {
                    self.deprecated_token(Deprecated::Ascii);
                    ty.charset = Some("latin1");
                }
                Token::Word(w) if w.eq_ignore_ascii_case(b"UNICODE") => {
                    self.deprecated_token(Deprecated::Unicode);
                    ty.charset = Some("ucs2");
                }
                Token::Word(w) if w.eq_ignore_ascii_case(b"BYTE") => ty.charset = Some("binary"),
                _ if self.at_charset() => {
                    self.charset_keyword()?;
                    ty.charset = Some(self.charset_name()?);
                    continue;
                }
                _ => return Ok(ty),
            }
            self.bump();
        }
    }

    /// Notes the deprecated attributes of a numeric type. `is_unsigned`: UNSIGNED is written.
    fn number_deprecations(&mut self, ty: &DataType<'a>, is_unsigned: bool) {
        use TypeName as T;
        let has_width = matches!(
            ty.name,
            T::TinyInt(Some(_)) | T::SmallInt(Some(_)) | T::MediumInt(Some(_)) | T::Int(Some(_)) | T::BigInt(Some(_))
        );
        let is_fraction = matches!(ty.name, T::Decimal { .. } | T::Float(_) | T::Double(_));
        for (is_there, form) in [
            (ty.zerofill, Deprecated::ZeroFill),
            (has_width, Deprecated::DisplayWidth),
            (matches!(ty.name, T::Float(Some(_)) | T::Double(Some(_))), Deprecated::FloatDigits),
            (is_fraction && is_unsigned, Deprecated::FloatUnsigned),
        ] {
            if is_there {
                self.deprecated_form(form);
            }
        }
    }

    /// The next tokens are CHARACTER SET or CHARSET.
    pub(super) fn at_charset(&self) -> bool {
        match self.token {
            Token::Keyword(K::Character | K::Char) => self.peek_kw(K::Set),
            _ => self.at_word("CHARSET"),
        }
    }

    pub(super) fn charset_keyword(&mut self) -> Result<()> {
        if self.accept_word("CHARSET") {
            return Ok(());
        }
        self.bump();
        self.expect_kw(K::Set)
    }

    /// The name of a character set or collation: a word, a string, or `binary`.
    pub(super) fn charset_name(&mut self) -> Result<&'a str> {
        let start = self.start;
        let name = self.collation_name()?;
        if let Some(form) = Deprecated::of_charset(name) {
            self.deprecated.push(((false, start, false), form));
        }
        Ok(name)
    }

    /// Likewise, without a warning: a collation of an expression.
    pub(super) fn collation_name(&mut self) -> Result<&'a str> {
        if self.accept_kw(K::Binary) {
            return Ok("binary");
        }
        self.ident_or_string()
    }

    fn type_name(&mut self, column: &str, ty: &mut DataType<'a>) -> Result<()> {
        let Token::Keyword(keyword) = self.token else { return self.word_type(column, ty) };
        self.bump();
        ty.name = match keyword {
            K::TinyInt | K::Int1 => TypeName::TinyInt(self.display_width(column)?),
            K::SmallInt | K::Int2 => TypeName::SmallInt(self.display_width(column)?),
            K::MediumInt | K::Int3 | K::MiddleInt => TypeName::MediumInt(self.display_width(column)?),
            K::Int | K::Integer | K::Int4 => TypeName::Int(self.display_width(column)?),
            K::BigInt | K::Int8 => TypeName::BigInt(self.display_width(column)?),
            K::Decimal | K::Dec | K::Numeric => self.decimal()?,
            K::Float | K::Float4 => self.float(column)?,
            K::Double | K::Float8 => {
                self.accept_kw(K::Precision);
                self.double(column)?
            }
            K::Real if self.mode.real_as_float => self.float(column)?,
            K::Real => self.double(column)?,
            K::Char | K::Character => {
                if self.accept_kw(K::Varying) {
                    TypeName::VarChar(self.number_in_parens()?)
                } else if self.at(Token::LeftParen) {
                    TypeName::Char(self.number_in_parens()?)
                } else {
                    TypeName::Char(1)
                }
            }
            K::VarChar | K::VarCharacter => TypeName::VarChar(self.number_in_parens()?),
            K::Binary => TypeName::Binary(if self.at(Token::LeftParen) { self.number_in_parens()? } else { 1 }),
            K::VarBinary => TypeName::VarBinary(self.number_in_parens()?),
            K::TinyBlob => TypeName::TinyBlob,
            K::Blob => TypeName::Blob(self.optional_number()?),
            K::MediumBlob => TypeName::MediumBlob,
            K::LongBlob => TypeName::LongBlob,
            K::TinyText => TypeName::TinyText,
            K::MediumText => TypeName::MediumText,
            K::LongText => TypeName::LongText,
            K::Long => {
                if self.accept_kw(K::VarBinary) {
                    TypeName::MediumBlob
                } else {
                    if self.at_kw(K::Char) && !self.at_charset() || self.at_kw(K::Character) && !self.at_charset() {
                        self.bump();
                        self.expect_kw(K::Varying)?;
                    } else {
                        let _ = self.accept_kw(K::VarChar) || self.accept_kw(K::VarCharacter);
                    }
                    TypeName::MediumText
                }
            }
            K::Set => TypeName::Set(self.members()?),
            _ => return Err(self.error()),
        };
        Ok(())
    }

    fn word_type(&mut self, column: &str, ty: &mut DataType<'a>) -> Result<()> {
        let Token::Word(word) = self.token else { return Err(self.error()) };
        let mut buffer = [0; 20];
        let upper = uppercase(word, &mut buffer);
        ty.name = match upper {
            b"BOOL" | b"BOOLEAN" => {
                self.bump();
                TypeName::TinyInt(Some(1))
            }
            b"SERIAL" => {
                self.bump();
                ty.unsigned = true;
                TypeName::BigInt(None)
            }
            b"FIXED" => {
                self.bump();
                self.decimal()?
            }
            b"BIT" => {
                self.bump();
                let length = self.optional_number()?.unwrap_or(1);
                if length > 64 {
                    return Err(DefinitionError::DisplayWidth { column: column.to_owned(), max: 64 }.into());
                }
                TypeName::Bit(length as u32)
            }
            b"TEXT" => {
                self.bump();
                TypeName::Text(self.optional_number()?)
            }
            b"NATIONAL" => {
                self.deprecated_token(Deprecated::National);
                self.bump();
                ty.charset = Some("utf8mb3");
                return self.type_name(column, ty);
            }
            b"NCHAR" | b"NVARCHAR" => {
                let varying = upper.len() > 5;
                self.deprecated_token(Deprecated::National);
                self.bump();
                ty.charset = Some("utf8mb3");
                let varying = varying || self.accept_kw(K::Varying) || self.accept_kw(K::VarChar);
                match self.optional_number()? {
                    Some(n) if varying => TypeName::VarChar(n),
                    Some(n) => TypeName::Char(n),
                    None if varying => return Err(self.error()),
                    None => TypeName::Char(1),
                }
            }
            b"DATE" => {
                self.bump();
                TypeName::Date
            }
            b"TIME" => {
                self.bump();
                TypeName::Time(self.fsp(column)?)
            }
            b"DATETIME" => {
                self.bump();
                TypeName::DateTime(self.fsp(column)?)
            }
            b"TIMESTAMP" => {
                self.bump();
                TypeName::Timestamp(self.fsp(column)?)
            }
            b"YEAR" => {
                self.bump();
                if let Some(width) = self.optional_number()? {
                    if width != 4 {
                        return Err(DefinitionError::YearWidth.into());
                    }
                    self.deprecated_form(Deprecated::YearWidth);
                }
                TypeName::Year
            }
            b"ENUM" => {
                self.bump();
                TypeName::Enum(self.members()?)
            }
            b"JSON" => {
                self.bump();
                TypeName::Json
            }
            name if let Some(kind) = GeometryKind::of_name(name) => {
                self.bump();
                TypeName::Geometry(kind)
            }
            b"VECTOR" => {
                self.bump();
                TypeName::Vector(self.optional_number()?)
            }
            _ => return Err(self.error()),
        };
        Ok(())
    }

    fn optional_number(&mut self) -> Result<Option<u64>> {
        if self.at(Token::LeftParen) { Ok(Some(self.number_in_parens()?)) } else { Ok(None) }
    }

    fn display_width(&mut self, column: &str) -> Result<Option<u8>> {
        match self.optional_number()? {
            None => Ok(None),
            Some(width) if width <= 255 => Ok(Some(width as u8)),
            Some(_) => Err(DefinitionError::DisplayWidth { column: column.to_owned(), max: 255 }.into()),
        }
    }

    /// The fraction digits of a temporal type, 0 to 6.
    fn fsp(&mut self, column: &str) -> Result<u8> {
        match self.optional_number()? {
            None => Ok(0),
            Some(fsp) if fsp <= 6 => Ok(fsp as u8),
            Some(fsp) => {
                let precision = u32::try_from(fsp).unwrap_or(u32::MAX);
                Err(DefinitionError::TooBigPrecision { column: column.to_owned(), precision, max: 6 }.into())
            }
        }
    }

    fn decimal(&mut self) -> Result<TypeName<'a>> {
        if !self.accept(Token::LeftParen) {
            return Ok(TypeName::Decimal { precision: 10, scale: 0 });
        }
        let precision = self.saturated_number()?;
        let scale = if self.accept(Token::Comma) { self.number()? } else { 0 };
        self.expect(Token::RightParen)?;
        let clamp = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        // DECIMAL(0) is DECIMAL(10).
        let precision = if precision == 0 && scale == 0 { 10 } else { precision };
        Ok(TypeName::Decimal { precision: clamp(precision), scale: clamp(scale) })
    }

    /// `(p)` as p, `(m,d)` as that.
    // A width, or digits and decimals: only the callers below take them apart.
    #[allow(clippy::type_complexity)]
    fn float_size(&mut self, column: &str) -> Result<(Option<u64>, Option<(u8, u8)>)> {
        if !self.accept(Token::LeftParen) {
            return Ok((None, None));
        }
        let first = self.number()?;
        if self.accept(Token::RightParen) {
            return Ok((Some(first), None));
        }
        self.expect(Token::Comma)?;
        let scale = self.number()?;
        self.expect(Token::RightParen)?;
        let column = || column.to_owned();
        if scale > 30 {
            let scale = u32::try_from(scale).unwrap_or(u32::MAX);
            return Err(DefinitionError::TooBigScale { column: column(), scale, max: 30 }.into());
        }
        if first > 255 {
            return Err(DefinitionError::DisplayWidth { column: column(), max: 255 }.into());
        }
        if scale > first {
            return Err(DefinitionError::ScaleOverPrecision(column()).into());
        }
        if first == 0 {
            return Err(DefinitionError::DisplayWidth { column: column(), max: 255 }.into());
        }
        Ok((None, Some((first as u8, scale as u8))))
    }

    /// `DOUBLE`, `DOUBLE(m,d)`
    fn double(&mut self, column: &str) -> Result<TypeName<'a>> {
        let (end, size) = (self.lexer, self.float_size(column)?);
        match size {
            (None, size) => Ok(TypeName::Double(size)),
            (Some(_), _) => {
                let mut lexer = end;
                lexer.next();
                let (_, start) = lexer.next();
                Err(Error::Syntax { near: self.near_of(start), line: self.line_of(start) })
            }
        }
    }

    /// The members of ENUM and SET: texts, or their bytes.
    fn members(&mut self) -> Result<&'a [&'a [u8]]> {
        self.paren_list(|p| match p.token {
            Token::Hex(_) | Token::Bits(_) => p.bits(),
            _ => p.string(),
        })
    }

    fn float(&mut self, column: &str) -> Result<TypeName<'a>> {
        match self.float_size(column)? {
            (None, size) => Ok(TypeName::Float(size)),
            (Some(precision), _) if precision <= 24 => Ok(TypeName::Float(None)),
            (Some(precision), _) if precision <= 53 => Ok(TypeName::Double(None)),
            _ => Err(DefinitionError::WrongColumnSpecifier(column.to_owned()).into()),
        }
    }

    /// The type in CAST(x AS type); errors name what stands from `from` on to here.
    pub(super) fn cast_target(&mut self, from: Range<usize>) -> Result<CastTarget<'a>> {
        match self.token {
            Token::Keyword(keyword) => {
                self.bump();
                match keyword {
                    K::Unsigned => {
                        self.int_word();
                        Ok(CastTarget::Unsigned)
                    }
                    K::Decimal | K::Dec | K::Numeric => self.cast_decimal(from),
                    K::Char | K::Character => self.cast_char(None),
                    K::Binary => Ok(CastTarget::Binary { length: self.cast_length()? }),
                    K::Double => {
                        self.accept_kw(K::Precision);
                        Ok(CastTarget::Double)
                    }
                    K::Real => Ok(if self.mode.real_as_float { CastTarget::Float } else { CastTarget::Double }),
                    K::Float => match self.optional_number()? {
                        Some(precision) if precision > 53 => {
                            let precision = u32::try_from(precision).unwrap_or(u32::MAX);
                            Err(DefinitionError::TooBigPrecision { column: "CAST".to_owned(), precision, max: 53 }.into())
                        }
                        Some(precision) if precision > 24 => Ok(CastTarget::Double),
                        _ => Ok(CastTarget::Float),
                    },
                    _ => Err(self.error()),
                }
            }
            Token::Word(word) => {
                let mut buffer = [0; 20];
                let upper = uppercase(word, &mut buffer);
                let known =
                    matches!(upper, b"SIGNED" | b"DATE" | b"TIME" | b"DATETIME" | b"YEAR" | b"JSON" | b"NCHAR" | b"FIXED");
                if !known {
                    // GEOMETRY itself is no target.
                    return match GeometryKind::of_name(upper).filter(|kind| *kind != GeometryKind::Geometry) {
                        Some(kind) => {
                            self.bump();
                            Ok(CastTarget::Geometry(kind))
                        }
                        None => Err(self.error()),
                    };
                }
                self.bump();
                match upper {
                    b"SIGNED" => {
                        self.int_word();
                        Ok(CastTarget::Signed)
                    }
                    b"FIXED" => self.cast_decimal(from),
                    b"DATE" => Ok(CastTarget::Date),
                    b"TIME" => Ok(CastTarget::Time { fsp: self.fsp("CAST")? }),
                    b"DATETIME" => Ok(CastTarget::DateTime { fsp: self.fsp("CAST")? }),
                    b"YEAR" => Ok(CastTarget::Year),
                    b"JSON" => Ok(CastTarget::Json),
                    _ => {
                        self.deprecated_form(Deprecated::National);
                        self.cast_char(Some("utf8mb3"))
                    }
                }
            }
            _ => Err(self.error()),
        }
    }

    fn int_word(&mut self) {
        let _ = self.accept_kw(K::Int) || self.accept_kw(K::Integer);
    }

    fn cast_decimal(&mut self, from: Range<usize>) -> Result<CastTarget<'a>> {
        let TypeName::Decimal { precision, scale } = self.decimal()? else { return Err(self.error()) };
        let column = String::from_utf8_lossy(&self.text[from]).into_owned();
        if scale > precision {
            return Err(DefinitionError::ScaleOverPrecision(String::new()).into());
        }
        if precision > 65 {
            return Err(DefinitionError::TooBigPrecision { column, precision, max: 65 }.into());
        }
        if scale > 30 {
            return Err(DefinitionError::TooBigScale { column, scale, max: 30 }.into());
        }
        Ok(CastTarget::Decimal { precision: precision as u8, scale: scale as u8 })
    }

    fn cast_length(&mut self) -> Result<Option<u32>> {
        let Some(length) = self.optional_length()? else { return Ok(None) };
        let too_wide = |_| DefinitionError::DisplayWidth { column: "cast as char".to_owned(), max: u32::MAX };
        Ok(Some(u32::try_from(length).map_err(too_wide)?))
    }

    /// `(n)`; what no integer holds is the largest.
    fn optional_length(&mut self) -> Result<Option<u64>> {
        if !self.accept(Token::LeftParen) {
            return Ok(None);
        }
        let length = self.saturated_number()?;
        self.expect(Token::RightParen)?;
        Ok(Some(length))
    }

    fn saturated_number(&mut self) -> Result<u64> {
        match self.token {
            Token::Int(digits) if parse_int(digits).is_none() => {
                self.bump();
                Ok(u64::MAX)
            }
            _ => self.number(),
        }
    }

    fn cast_char(&mut self, charset: Option<&'a str>) -> Result<CastTarget<'a>> {
        let length = self.cast_length()?;
        if charset.is_some() {
            return Ok(CastTarget::Char { length, charset, binary: false });
        }
        if self.accept_word("BYTE") {
            return Ok(CastTarget::Binary { length });
        }
        let mut charset = None;
        let mut binary = self.accept_binary_attribute();
        if self.at_charset() {
            self.charset_keyword()?;
            charset = Some(self.charset_name()?);
        } else if self.accept_word("ASCII") {
            self.deprecated_form(Deprecated::Ascii);
            charset = Some("latin1");
        } else if self.accept_word("UNICODE") {
            self.deprecated_form(Deprecated::Unicode);
            charset = Some("ucs2");
        }
        binary |= charset.is_some() && self.accept_binary_attribute();
        // Bytes, padded as BINARY is.
        if charset.is_some_and(|charset: &str| charset.eq_ignore_ascii_case("binary")) {
            return Ok(CastTarget::Binary { length });
        }
        Ok(CastTarget::Char { length, charset, binary })
    }

    /// BINARY after a text type of a cast.
    fn accept_binary_attribute(&mut self) -> bool {
        let is_there = self.at_kw(K::Binary);
        if is_there {
            self.deprecated_token(Deprecated::BinaryAttribute);
            self.bump();
        }
        is_there
    }
}
