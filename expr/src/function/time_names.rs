//! The names of days and months in the languages of `lc_time_names`, in the order of MySQL's numbers for them: facts as MySQL 9.7 answers them
//! (`SET lc_time_names = n; SELECT DATE_FORMAT(...)`). Libraries have the names of today's CLDR and glibc, which differ.

/// A language's names, as `%W`, `%a`, `%M` and `%b` print them. Weeks begin on Mondays.
#[derive(Debug)]
pub struct TimeNames {
    pub days: [&'static str; 7],
    pub short_days: [&'static str; 7],
    pub months: [&'static str; 12],
    pub short_months: [&'static str; 12],
}

/// The names of the values of `lc_time_names`, by number.
pub const LOCALE_NAMES: &[&str] = &{
    let mut names = [""; LOCALES.len()];
    let mut n = 0;
    while n < names.len() {
        names[n] = LOCALES[n].0;
        n += 1;
    }
    names
};

impl TimeNames {
    /// Those of a value of `lc_time_names`; of unknown ones the first's.
    pub fn of(number: usize) -> &'static TimeNames {
        LOCALES.get(number).unwrap_or(&LOCALES[0]).1
    }
}

#[rustfmt::skip]
static EN_US: TimeNames = TimeNames {
    days: ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"],
    short_days: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    months: ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"],
    short_months: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
};
#[rustfmt::skip]
static JA_JP: TimeNames = TimeNames {
    days: ["月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日", "日曜日"],
    short_days: ["月", "火", "水", "木", "金", "土", "日"],
    months: ["1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"],
    short_months: [" 1月", " 2月", " 3月", " 4月", " 5月", " 6月", " 7月", " 8月", " 9月", "10月", "11月", "12月"],
};
#[rustfmt::skip]
static SV_SE: TimeNames = TimeNames {
    days: ["måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag", "söndag"],
    short_days: ["mån", "tis", "ons", "tor", "fre", "lör", "sön"],
    months: ["januari", "februari", "mars", "april", "maj", "juni", "juli", "augusti", "september", "oktober", "november", "december"],
    short_months: ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
};
#[rustfmt::skip]
static DE_DE: TimeNames = TimeNames {
    days: ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
    short_days: ["Mo", "Di", "Mi", "Do", "Fr", "Sa", "So"],
    months: ["Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"],
    short_months: ["Jan", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"],
};
#[rustfmt::skip]
static FR_FR: TimeNames = TimeNames {
    days: ["lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi", "dimanche"],
    short_days: ["lun", "mar", "mer", "jeu", "ven", "sam", "dim"],
    months: ["janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"],
    short_months: ["jan", "fév", "mar", "avr", "mai", "jun", "jui", "aoû", "sep", "oct", "nov", "déc"],
};
#[rustfmt::skip]
static AR_AE: TimeNames = TimeNames {
    days: ["الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت ", "الأحد"],
    short_days: ["ن", "ث", "ر", "خ", "ج", "س", "ح"],
    months: ["يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر"],
    short_months: ["ينا", "فبر", "مار", "أبر", "ماي", "يون", "يول", "أغس", "سبت", "أكت", "نوف", "ديس"],
};
#[rustfmt::skip]
static AR_BH: TimeNames = TimeNames {
    days: ["الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"],
    short_days: ["ن", "ث", "ر", "خ", "ج", "س", "ح"],
    months: ["يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر", "نوفمبر", "ديسمبر"],
    short_months: ["ينا", "فبر", "مار", "أبر", "ماي", "يون", "يول", "أغس", "سبت", "أكت", "نوف", "ديس"],
};
#[rustfmt::skip]
static AR_JO: TimeNames = TimeNames {
    days: ["الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"],
    short_days: ["الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"],
    months: ["كانون الثاني", "شباط", "آذار", "نيسان", "نوار", "حزيران", "تموز", "آب", "أيلول", "تشرين الأول", "تشرين الثاني", "كانون الأول"],
    short_months: ["كانون الثاني", "شباط", "آذار", "نيسان", "نوار", "حزيران", "تموز", "آب", "أيلول", "تشرين الأول", "تشرين الثاني", "كانون الأول"],
};
#[rustfmt::skip]
static AR_SA: TimeNames = TimeNames {
    days: ["الإثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعـة", "السبت", "الأحد"],
    short_days: ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    months: ["كانون الثاني", "شباط", "آذار", "نيسـان", "أيار", "حزيران", "تـمـوز", "آب", "أيلول", "تشرين الأول", "تشرين الثاني", "كانون الأول"],
    short_months: ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
};
#[rustfmt::skip]
static AR_SY: TimeNames = TimeNames {
    days: ["الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"],
    short_days: ["الاثنين", "الثلاثاء", "الأربعاء", "الخميس", "الجمعة", "السبت", "الأحد"],
    months: ["كانون الثاني", "شباط", "آذار", "نيسان", "نواران", "حزير", "تموز", "آب", "أيلول", "تشرين الأول", "تشرين الثاني", "كانون الأول"],
    short_months: ["كانون الثاني", "شباط", "آذار", "نيسان", "نوار", "حزيران", "تموز", "آب", "أيلول", "تشرين الأول", "تشرين الثاني", "كانون الأول"],
};
#[rustfmt::skip]
static BE_BY: TimeNames = TimeNames {
    days: ["Панядзелак", "Аўторак", "Серада", "Чацвер", "Пятніца", "Субота", "Нядзеля"],
    short_days: ["Пан", "Аўт", "Срд", "Чцв", "Пят", "Суб", "Няд"],
    months: ["Студзень", "Люты", "Сакавік", "Красавік", "Травень", "Чэрвень", "Ліпень", "Жнівень", "Верасень", "Кастрычнік", "Лістапад", "Снежань"],
    short_months: ["Стд", "Лют", "Сак", "Крс", "Тра", "Чэр", "Ліп", "Жнв", "Врс", "Кст", "Ліс", "Снж"],
};
#[rustfmt::skip]
static BG_BG: TimeNames = TimeNames {
    days: ["понеделник", "вторник", "сряда", "четвъртък", "петък", "събота", "неделя"],
    short_days: ["пн", "вт", "ср", "чт", "пт", "сб", "нд"],
    months: ["януари", "февруари", "март", "април", "май", "юни", "юли", "август", "септември", "октомври", "ноември", "декември"],
    short_months: ["яну", "фев", "мар", "апр", "май", "юни", "юли", "авг", "сеп", "окт", "ное", "дек"],
};
#[rustfmt::skip]
static CA_ES: TimeNames = TimeNames {
    days: ["dilluns", "dimarts", "dimecres", "dijous", "divendres", "dissabte", "diumenge"],
    short_days: ["dl", "dt", "dc", "dj", "dv", "ds", "dg"],
    months: ["gener", "febrer", "març", "abril", "maig", "juny", "juliol", "agost", "setembre", "octubre", "novembre", "desembre"],
    short_months: ["gen", "feb", "mar", "abr", "mai", "jun", "jul", "ago", "set", "oct", "nov", "des"],
};
#[rustfmt::skip]
static CS_CZ: TimeNames = TimeNames {
    days: ["Pondělí", "Úterý", "Středa", "Čtvrtek", "Pátek", "Sobota", "Neděle"],
    short_days: ["Po", "Út", "St", "Čt", "Pá", "So", "Ne"],
    months: ["leden", "únor", "březen", "duben", "květen", "červen", "červenec", "srpen", "září", "říjen", "listopad", "prosinec"],
    short_months: ["led", "úno", "bře", "dub", "kvě", "čen", "čec", "srp", "zář", "říj", "lis", "pro"],
};
#[rustfmt::skip]
static DA_DK: TimeNames = TimeNames {
    days: ["mandag", "tirsdag", "onsdag", "torsdag", "fredag", "lørdag", "søndag"],
    short_days: ["man", "tir", "ons", "tor", "fre", "lør", "søn"],
    months: ["januar", "februar", "marts", "april", "maj", "juni", "juli", "august", "september", "oktober", "november", "december"],
    short_months: ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
};
#[rustfmt::skip]
static DE_AT: TimeNames = TimeNames {
    days: ["Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag", "Sonntag"],
    short_days: ["Mon", "Die", "Mit", "Don", "Fre", "Sam", "Son"],
    months: ["Jänner", "Feber", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"],
    short_months: ["Jän", "Feb", "Mär", "Apr", "Mai", "Jun", "Jul", "Aug", "Sep", "Okt", "Nov", "Dez"],
};
#[rustfmt::skip]
static ES_ES: TimeNames = TimeNames {
    days: ["lunes", "martes", "miércoles", "jueves", "viernes", "sábado", "domingo"],
    short_days: ["lun", "mar", "mié", "jue", "vie", "sáb", "dom"],
    months: ["enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"],
    short_months: ["ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sep", "oct", "nov", "dic"],
};
#[rustfmt::skip]
static ET_EE: TimeNames = TimeNames {
    days: ["esmaspäev", "teisipäev", "kolmapäev", "neljapäev", "reede", "laupäev", "pühapäev"],
    short_days: ["E", "T", "K", "N", "R", "L", "P"],
    months: ["jaanuar", "veebruar", "märts", "aprill", "mai", "juuni", "juuli", "august", "september", "oktoober", "november", "detsember"],
    short_months: ["jaan ", "veebr", "märts", "apr  ", "mai  ", "juuni", "juuli", "aug  ", "sept ", "okt  ", "nov  ", "dets "],
};
#[rustfmt::skip]
static EU_ES: TimeNames = TimeNames {
    days: ["astelehena", "asteartea", "asteazkena", "osteguna", "ostirala", "larunbata", "igandea"],
    short_days: ["al.", "ar.", "az.", "og.", "or.", "lr.", "ig."],
    months: ["urtarrila", "otsaila", "martxoa", "apirila", "maiatza", "ekaina", "uztaila", "abuztua", "iraila", "urria", "azaroa", "abendua"],
    short_months: ["urt", "ots", "mar", "api", "mai", "eka", "uzt", "abu", "ira", "urr", "aza", "abe"],
};
#[rustfmt::skip]
static FI_FI: TimeNames = TimeNames {
    days: ["maanantai", "tiistai", "keskiviikko", "torstai", "perjantai", "lauantai", "sunnuntai"],
    short_days: ["ma", "ti", "ke", "to", "pe", "la", "su"],
    months: ["tammikuu", "helmikuu", "maaliskuu", "huhtikuu", "toukokuu", "kesäkuu", "heinäkuu", "elokuu", "syyskuu", "lokakuu", "marraskuu", "joulukuu"],
    short_months: ["tammi ", "helmi ", "maalis", "huhti ", "touko ", "kesä  ", "heinä ", "elo   ", "syys  ", "loka  ", "marras", "joulu "],
};
#[rustfmt::skip]
static FO_FO: TimeNames = TimeNames {
    days: ["mánadagur", "týsdagur", "mikudagur", "hósdagur", "fríggjadagur", "leygardagur", "sunnudagur"],
    short_days: ["mán", "týs", "mik", "hós", "frí", "ley", "sun"],
    months: ["januar", "februar", "mars", "apríl", "mai", "juni", "juli", "august", "september", "oktober", "november", "desember"],
    short_months: ["jan", "feb", "mar", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "des"],
};
#[rustfmt::skip]
static GL_ES: TimeNames = TimeNames {
    days: ["Luns", "Martes", "Mércores", "Xoves", "Venres", "Sábado", "Domingo"],
    short_days: ["Lun", "Mar", "Mér", "Xov", "Ven", "Sáb", "Dom"],
    months: ["Xaneiro", "Febreiro", "Marzo", "Abril", "Maio", "Xuño", "Xullo", "Agosto", "Setembro", "Outubro", "Novembro", "Decembro"],
    short_months: ["Xan", "Feb", "Mar", "Abr", "Mai", "Xuñ", "Xul", "Ago", "Set", "Out", "Nov", "Dec"],
};
#[rustfmt::skip]
static GU_IN: TimeNames = TimeNames {
    days: ["સોમવાર", "મન્ગળવાર", "બુધવાર", "ગુરુવાર", "શુક્રવાર", "શનિવાર", "રવિવાર"],
    short_days: ["સોમ", "મન્ગળ", "બુધ", "ગુરુ", "શુક્ર", "શનિ", "રવિ"],
    months: ["જાન્યુઆરી", "ફેબ્રુઆરી", "માર્ચ", "એપ્રિલ", "મે", "જુન", "જુલાઇ", "ઓગસ્ટ", "સેપ્ટેમ્બર", "ઓક્ટોબર", "નવેમ્બર", "ડિસેમ્બર"],
    short_months: ["જાન", "ફેબ", "માર", "એપ્ર", "મે", "જુન", "જુલ", "ઓગ", "સેપ્ટ", "ઓક્ટ", "નોવ", "ડિસ"],
};
#[rustfmt::skip]
static HE_IL: TimeNames = TimeNames {
    days: ["שני", "שלישי", "רביעי", "חמישי", "שישי", "שבת", "ראשון"],
    short_days: ["ב'", "ג'", "ד'", "ה'", "ו'", "ש'", "א'"],
    months: ["ינואר", "פברואר", "מרץ", "אפריל", "מאי", "יוני", "יולי", "אוגוסט", "ספטמבר", "אוקטובר", "נובמבר", "דצמבר"],
    short_months: ["ינו", "פבר", "מרץ", "אפר", "מאי", "יונ", "יול", "אוג", "ספט", "אוק", "נוב", "דצמ"],
};
#[rustfmt::skip]
static HI_IN: TimeNames = TimeNames {
    days: ["सोमवार ", "मंगलवार ", "बुधवार ", "गुरुवार ", "शुक्रवार ", "शनिवार ", "रविवार "],
    short_days: ["सोम ", "मंगल ", "बुध ", "गुरु ", "शुक्र ", "शनि ", "रवि "],
    months: ["जनवरी", "फ़रवरी", "मार्च", "अप्रेल", "मई", "जून", "जुलाई", "अगस्त", "सितम्बर", "अक्टूबर", "नवम्बर", "दिसम्बर"],
    short_months: ["जनवरी", "फ़रवरी", "मार्च", "अप्रेल", "मई", "जून", "जुलाई", "अगस्त", "सितम्बर", "अक्टूबर", "नवम्बर", "दिसम्बर"],
};
#[rustfmt::skip]
static HR_HR: TimeNames = TimeNames {
    days: ["Ponedjeljak", "Utorak", "Srijeda", "Četvrtak", "Petak", "Subota", "Nedjelja"],
    short_days: ["Pon", "Uto", "Sri", "Čet", "Pet", "Sub", "Ned"],
    months: ["Siječanj", "Veljača", "Ožujak", "Travanj", "Svibanj", "Lipanj", "Srpanj", "Kolovoz", "Rujan", "Listopad", "Studeni", "Prosinac"],
    short_months: ["Sij", "Vel", "Ožu", "Tra", "Svi", "Lip", "Srp", "Kol", "Ruj", "Lis", "Stu", "Pro"],
};
#[rustfmt::skip]
static HU_HU: TimeNames = TimeNames {
    days: ["hétfő", "kedd", "szerda", "csütörtök", "péntek", "szombat", "vasárnap"],
    short_days: ["h", "k", "sze", "cs", "p", "szo", "v"],
    months: ["január", "február", "március", "április", "május", "június", "július", "augusztus", "szeptember", "október", "november", "december"],
    short_months: ["jan", "feb", "már", "ápr", "máj", "jún", "júl", "aug", "sze", "okt", "nov", "dec"],
};
#[rustfmt::skip]
static ID_ID: TimeNames = TimeNames {
    days: ["Senin", "Selasa", "Rabu", "Kamis", "Jumat", "Sabtu", "Minggu"],
    short_days: ["Sen", "Sel", "Rab", "Kam", "Jum", "Sab", "Min"],
    months: ["Januari", "Pebruari", "Maret", "April", "Mei", "Juni", "Juli", "Agustus", "September", "Oktober", "November", "Desember"],
    short_months: ["Jan", "Peb", "Mar", "Apr", "Mei", "Jun", "Jul", "Agu", "Sep", "Okt", "Nov", "Des"],
};
#[rustfmt::skip]
static IS_IS: TimeNames = TimeNames {
    days: ["mánudagur", "þriðjudagur", "miðvikudagur", "fimmtudagur", "föstudagur", "laugardagur", "sunnudagur"],
    short_days: ["mán", "þri", "mið", "fim", "fös", "lau", "sun"],
    months: ["janúar", "febrúar", "mars", "apríl", "maí", "júní", "júlí", "ágúst", "september", "október", "nóvember", "desember"],
    short_months: ["jan", "feb", "mar", "apr", "maí", "jún", "júl", "ágú", "sep", "okt", "nóv", "des"],
};
#[rustfmt::skip]
static IT_CH: TimeNames = TimeNames {
    days: ["lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato", "domenica"],
    short_days: ["lun", "mar", "mer", "gio", "ven", "sab", "dom"],
    months: ["gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"],
    short_months: ["gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"],
};
#[rustfmt::skip]
static KO_KR: TimeNames = TimeNames {
    days: ["월요일", "화요일", "수요일", "목요일", "금요일", "토요일", "일요일"],
    short_days: ["월", "화", "수", "목", "금", "토", "일"],
    months: ["일월", "이월", "삼월", "사월", "오월", "유월", "칠월", "팔월", "구월", "시월", "십일월", "십이월"],
    short_months: [" 1월", " 2월", " 3월", " 4월", " 5월", " 6월", " 7월", " 8월", " 9월", "10월", "11월", "12월"],
};
#[rustfmt::skip]
static LT_LT: TimeNames = TimeNames {
    days: ["Pirmadienis", "Antradienis", "Trečiadienis", "Ketvirtadienis", "Penktadienis", "Šeštadienis", "Sekmadienis"],
    short_days: ["Pr", "An", "Tr", "Kt", "Pn", "Št", "Sk"],
    months: ["sausio", "vasario", "kovo", "balandžio", "gegužės", "birželio", "liepos", "rugpjūčio", "rugsėjo", "spalio", "lapkričio", "gruodžio"],
    short_months: ["Sau", "Vas", "Kov", "Bal", "Geg", "Bir", "Lie", "Rgp", "Rgs", "Spa", "Lap", "Grd"],
};
#[rustfmt::skip]
static LV_LV: TimeNames = TimeNames {
    days: ["pirmdiena", "otrdiena", "trešdiena", "ceturtdiena", "piektdiena", "sestdiena", "svētdiena"],
    short_days: ["P ", "O ", "T ", "C ", "Pk", "S ", "Sv"],
    months: ["janvāris", "februāris", "marts", "aprīlis", "maijs", "jūnijs", "jūlijs", "augusts", "septembris", "oktobris", "novembris", "decembris"],
    short_months: ["jan", "feb", "mar", "apr", "mai", "jūn", "jūl", "aug", "sep", "okt", "nov", "dec"],
};
#[rustfmt::skip]
static MK_MK: TimeNames = TimeNames {
    days: ["понеделник", "вторник", "среда", "четврток", "петок", "сабота", "недела"],
    short_days: ["пон", "вто", "сре", "чет", "пет", "саб", "нед"],
    months: ["јануари", "февруари", "март", "април", "мај", "јуни", "јули", "август", "септември", "октомври", "ноември", "декември"],
    short_months: ["јан", "фев", "мар", "апр", "мај", "јун", "јул", "авг", "сеп", "окт", "ное", "дек"],
};
#[rustfmt::skip]
static MN_MN: TimeNames = TimeNames {
    days: ["Даваа", "Мягмар", "Лхагва", "Пүрэв", "Баасан", "Бямба", "Ням"],
    short_days: ["Да", "Мя", "Лх", "Пү", "Ба", "Бя", "Ня"],
    months: ["Нэгдүгээр сар", "Хоёрдугаар сар", "Гуравдугаар сар", "Дөрөвдүгээр сар", "Тавдугаар сар", "Зургаадугар сар", "Долоодугаар сар", "Наймдугаар сар", "Есдүгээр сар", "Аравдугаар сар", "Арваннэгдүгээр сар", "Арванхоёрдгаар сар"],
    short_months: ["1-р", "2-р", "3-р", "4-р", "5-р", "6-р", "7-р", "8-р", "9-р", "10-р", "11-р", "12-р"],
};
#[rustfmt::skip]
static MS_MY: TimeNames = TimeNames {
    days: ["Isnin", "Selasa", "Rabu", "Khamis", "Jumaat", "Sabtu", "Ahad"],
    short_days: ["Isn", "Sel", "Rab", "Kha", "Jum", "Sab", "Ahd"],
    months: ["Januari", "Februari", "Mac", "April", "Mei", "Jun", "Julai", "Ogos", "September", "Oktober", "November", "Disember"],
    short_months: ["Jan", "Feb", "Mac", "Apr", "Mei", "Jun", "Jul", "Ogos", "Sep", "Okt", "Nov", "Dis"],
};
#[rustfmt::skip]
static NB_NO: TimeNames = TimeNames {
    days: ["mandag", "tirsdag", "onsdag", "torsdag", "fredag", "lørdag", "søndag"],
    short_days: ["man", "tir", "ons", "tor", "fre", "lør", "søn"],
    months: ["januar", "februar", "mars", "april", "mai", "juni", "juli", "august", "september", "oktober", "november", "desember"],
    short_months: ["jan", "feb", "mar", "apr", "mai", "jun", "jul", "aug", "sep", "okt", "nov", "des"],
};
#[rustfmt::skip]
static NL_NL: TimeNames = TimeNames {
    days: ["maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag", "zondag"],
    short_days: ["ma", "di", "wo", "do", "vr", "za", "zo"],
    months: ["januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"],
    short_months: ["jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"],
};
#[rustfmt::skip]
static PL_PL: TimeNames = TimeNames {
    days: ["poniedziałek", "wtorek", "środa", "czwartek", "piątek", "sobota", "niedziela"],
    short_days: ["pon", "wto", "śro", "czw", "pią", "sob", "nie"],
    months: ["styczeń", "luty", "marzec", "kwiecień", "maj", "czerwiec", "lipiec", "sierpień", "wrzesień", "październik", "listopad", "grudzień"],
    short_months: ["sty", "lut", "mar", "kwi", "maj", "cze", "lip", "sie", "wrz", "paź", "lis", "gru"],
};
#[rustfmt::skip]
static PT_BR: TimeNames = TimeNames {
    days: ["segunda", "terça", "quarta", "quinta", "sexta", "sábado", "domingo"],
    short_days: ["Seg", "Ter", "Qua", "Qui", "Sex", "Sáb", "Dom"],
    months: ["janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"],
    short_months: ["Jan", "Fev", "Mar", "Abr", "Mai", "Jun", "Jul", "Ago", "Set", "Out", "Nov", "Dez"],
};
#[rustfmt::skip]
static PT_PT: TimeNames = TimeNames {
    days: ["Segunda", "Terça", "Quarta", "Quinta", "Sexta", "Sábado", "Domingo"],
    short_days: ["Seg", "Ter", "Qua", "Qui", "Sex", "Sáb", "Dom"],
    months: ["Janeiro", "Fevereiro", "Março", "Abril", "Maio", "Junho", "Julho", "Agosto", "Setembro", "Outubro", "Novembro", "Dezembro"],
    short_months: ["Jan", "Fev", "Mar", "Abr", "Mai", "Jun", "Jul", "Ago", "Set", "Out", "Nov", "Dez"],
};
#[rustfmt::skip]
static RO_RO: TimeNames = TimeNames {
    days: ["Luni", "Marţi", "Miercuri", "Joi", "Vineri", "Sâmbătă", "Duminică"],
    short_days: ["Lu", "Ma", "Mi", "Jo", "Vi", "Sâ", "Du"],
    months: ["Ianuarie", "Februarie", "Martie", "Aprilie", "Mai", "Iunie", "Iulie", "August", "Septembrie", "Octombrie", "Noiembrie", "Decembrie"],
    short_months: ["ian", "feb", "mar", "apr", "mai", "iun", "iul", "aug", "sep", "oct", "nov", "dec"],
};
#[rustfmt::skip]
static RU_RU: TimeNames = TimeNames {
    days: ["Понедельник", "Вторник", "Среда", "Четверг", "Пятница", "Суббота", "Воскресенье"],
    short_days: ["Пнд", "Втр", "Срд", "Чтв", "Птн", "Сбт", "Вск"],
    months: ["Января", "Февраля", "Марта", "Апреля", "Мая", "Июня", "Июля", "Августа", "Сентября", "Октября", "Ноября", "Декабря"],
    short_months: ["Янв", "Фев", "Мар", "Апр", "Май", "Июн", "Июл", "Авг", "Сен", "Окт", "Ноя", "Дек"],
};
#[rustfmt::skip]
static RU_UA: TimeNames = TimeNames {
    days: ["Понедельник", "Вторник", "Среда", "Четверг", "Пятница", "Суббота", "Воскресенье"],
    short_days: ["Пнд", "Вто", "Срд", "Чтв", "Птн", "Суб", "Вск"],
    months: ["Январь", "Февраль", "Март", "Апрель", "Май", "Июнь", "Июль", "Август", "Сентябрь", "Октябрь", "Ноябрь", "Декабрь"],
    short_months: ["Янв", "Фев", "Мар", "Апр", "Май", "Июн", "Июл", "Авг", "Сен", "Окт", "Ноя", "Дек"],
};
#[rustfmt::skip]
static SK_SK: TimeNames = TimeNames {
    days: ["Pondelok", "Utorok", "Streda", "Štvrtok", "Piatok", "Sobota", "Nedeľa"],
    short_days: ["Po", "Ut", "St", "Št", "Pi", "So", "Ne"],
    months: ["január", "február", "marec", "apríl", "máj", "jún", "júl", "august", "september", "október", "november", "december"],
    short_months: ["jan", "feb", "mar", "apr", "máj", "jún", "júl", "aug", "sep", "okt", "nov", "dec"],
};
#[rustfmt::skip]
static SL_SI: TimeNames = TimeNames {
    days: ["ponedeljek", "torek", "sreda", "četrtek", "petek", "sobota", "nedelja"],
    short_days: ["pon", "tor", "sre", "čet", "pet", "sob", "ned"],
    months: ["januar", "februar", "marec", "april", "maj", "junij", "julij", "avgust", "september", "oktober", "november", "december"],
    short_months: ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "avg", "sep", "okt", "nov", "dec"],
};
#[rustfmt::skip]
static SQ_AL: TimeNames = TimeNames {
    days: ["e hënë ", "e martë ", "e mërkurë ", "e enjte ", "e premte ", "e shtunë ", "e diel "],
    short_days: ["Hën ", "Mar ", "Mër ", "Enj ", "Pre ", "Sht ", "Die "],
    months: ["janar", "shkurt", "mars", "prill", "maj", "qershor", "korrik", "gusht", "shtator", "tetor", "nëntor", "dhjetor"],
    short_months: ["Jan", "Shk", "Mar", "Pri", "Maj", "Qer", "Kor", "Gsh", "Sht", "Tet", "Nën", "Dhj"],
};
#[rustfmt::skip]
static SR_RS: TimeNames = TimeNames {
    days: ["ponedeljak", "utorak", "sreda", "četvrtak", "petak", "subota", "nedelja"],
    short_days: ["pon", "uto", "sre", "čet", "pet", "sub", "ned"],
    months: ["januar", "februar", "mart", "april", "maj", "juni", "juli", "avgust", "septembar", "oktobar", "novembar", "decembar"],
    short_months: ["jan", "feb", "mar", "apr", "maj", "jun", "jul", "avg", "sep", "okt", "nov", "dec"],
};
#[rustfmt::skip]
static TA_IN: TimeNames = TimeNames {
    days: ["திங்கள்", "செவ்வாய்", "புதன்", "வியாழன்", "வெள்ளி", "சனி", "ஞாயிறு"],
    short_days: ["த", "ச", "ப", "வ", "வ", "ச", "ஞ"],
    months: ["ஜனவரி", "பெப்ரவரி", "மார்ச்", "ஏப்ரல்", "மே", "ஜூன்", "ஜூலை", "ஆகஸ்ட்", "செப்டம்பர்", "அக்டோபர்", "நவம்பர்", "டிசம்பர்r"],
    short_months: ["ஜனவரி", "பெப்ரவரி", "மார்ச்", "ஏப்ரல்", "மே", "ஜூன்", "ஜூலை", "ஆகஸ்ட்", "செப்டம்பர்", "அக்டோபர்", "நவம்பர்", "டிசம்பர்r"],
};
#[rustfmt::skip]
static TE_IN: TimeNames = TimeNames {
    days: ["సోమవారం", "మంగళవారం", "బుధవారం", "గురువారం", "శుక్రవారం", "శనివారం", "ఆదివారం"],
    short_days: ["సోమ", "మంగళ", "బుధ", "గురు", "శుక్ర", "శని", "ఆది"],
    months: ["జనవరి", "ఫిబ్రవరి", "మార్చి", "ఏప్రిల్", "మే", "జూన్", "జూలై", "ఆగస్టు", "సెప్టెంబర్", "అక్టోబర్", "నవంబర్", "డిసెంబర్"],
    short_months: ["జనవరి", "ఫిబ్రవరి", "మార్చి", "ఏప్రిల్", "మే", "జూన్", "జూలై", "ఆగస్టు", "సెప్టెంబర్", "అక్టోబర్", "నవంబర్", "డిసెంబర్"],
};
#[rustfmt::skip]
static TH_TH: TimeNames = TimeNames {
    days: ["จันทร์", "อังคาร", "พุธ", "พฤหัสบดี", "ศุกร์", "เสาร์", "อาทิตย์"],
    short_days: ["จ.", "อ.", "พ.", "พฤ.", "ศ.", "ส.", "อา."],
    months: ["มกราคม", "กุมภาพันธ์", "มีนาคม", "เมษายน", "พฤษภาคม", "มิถุนายน", "กรกฎาคม", "สิงหาคม", "กันยายน", "ตุลาคม", "พฤศจิกายน", "ธันวาคม"],
    short_months: ["ม.ค.", "ก.พ.", "มี.ค.", "เม.ย.", "พ.ค.", "มิ.ย.", "ก.ค.", "ส.ค.", "ก.ย.", "ต.ค.", "พ.ย.", "ธ.ค."],
};
#[rustfmt::skip]
static TR_TR: TimeNames = TimeNames {
    days: ["Pazartesi", "Salı", "Çarşamba", "Perşembe", "Cuma", "Cumartesi", "Pazar"],
    short_days: ["Pzt", "Sal", "Çrş", "Prş", "Cum", "Cts", "Paz"],
    months: ["Ocak", "Şubat", "Mart", "Nisan", "Mayıs", "Haziran", "Temmuz", "Ağustos", "Eylül", "Ekim", "Kasım", "Aralık"],
    short_months: ["Oca", "Şub", "Mar", "Nis", "May", "Haz", "Tem", "Ağu", "Eyl", "Eki", "Kas", "Ara"],
};
#[rustfmt::skip]
static UK_UA: TimeNames = TimeNames {
    days: ["Понеділок", "Вівторок", "Середа", "Четвер", "П'ятниця", "Субота", "Неділя"],
    short_days: ["Пнд", "Втр", "Срд", "Чтв", "Птн", "Сбт", "Ндл"],
    months: ["Січень", "Лютий", "Березень", "Квітень", "Травень", "Червень", "Липень", "Серпень", "Вересень", "Жовтень", "Листопад", "Грудень"],
    short_months: ["Січ", "Лют", "Бер", "Кві", "Тра", "Чер", "Лип", "Сер", "Вер", "Жов", "Лис", "Гру"],
};
#[rustfmt::skip]
static UR_PK: TimeNames = TimeNames {
    days: ["پير", "منگل", "بدھ", "جمعرات", "جمعه", "هفته", "اتوار"],
    short_days: ["پير", "منگل", "بدھ", "جمعرات", "جمعه", "هفته", "اتوار"],
    months: ["جنوري", "فروري", "مارچ", "اپريل", "مٓی", "جون", "جولاي", "اگست", "ستمبر", "اكتوبر", "نومبر", "دسمبر"],
    short_months: ["جنوري", "فروري", "مارچ", "اپريل", "مٓی", "جون", "جولاي", "اگست", "ستمبر", "اكتوبر", "نومبر", "دسمبر"],
};
#[rustfmt::skip]
static VI_VN: TimeNames = TimeNames {
    days: ["Thứ hai ", "Thứ ba ", "Thứ tư ", "Thứ năm ", "Thứ sáu ", "Thứ bảy ", "Chủ nhật "],
    short_days: ["Th 2 ", "Th 3 ", "Th 4 ", "Th 5 ", "Th 6 ", "Th 7 ", "CN "],
    months: ["Tháng một", "Tháng hai", "Tháng ba", "Tháng tư", "Tháng năm", "Tháng sáu", "Tháng bảy", "Tháng tám", "Tháng chín", "Tháng mười", "Tháng mười một", "Tháng mười hai"],
    short_months: ["Thg 1", "Thg 2", "Thg 3", "Thg 4", "Thg 5", "Thg 6", "Thg 7", "Thg 8", "Thg 9", "Thg 10", "Thg 11", "Thg 12"],
};
#[rustfmt::skip]
static ZH_CN: TimeNames = TimeNames {
    days: ["星期一", "星期二", "星期三", "星期四", "星期五", "星期六", "星期日"],
    short_days: ["一", "二", "三", "四", "五", "六", "日"],
    months: ["一月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "十一月", "十二月"],
    short_months: [" 1月", " 2月", " 3月", " 4月", " 5月", " 6月", " 7月", " 8月", " 9月", "10月", "11月", "12月"],
};
#[rustfmt::skip]
static ZH_TW: TimeNames = TimeNames {
    days: ["週一", "週二", "週三", "週四", "週五", "週六", "週日"],
    short_days: ["一", "二", "三", "四", "五", "六", "日"],
    months: ["一月", "二月", "三月", "四月", "五月", "六月", "七月", "八月", "九月", "十月", "十一月", "十二月"],
    short_months: [" 1月", " 2月", " 3月", " 4月", " 5月", " 6月", " 7月", " 8月", " 9月", "10月", "11月", "12月"],
};
#[rustfmt::skip]
static EL_GR: TimeNames = TimeNames {
    days: ["Δευτέρα", "Τρίτη", "Τετάρτη", "Πέμπτη", "Παρασκευή", "Σάββατο", "Κυριακή"],
    short_days: ["Δευ", "Τρί", "Τετ", "Πέμ", "Παρ", "Σάβ", "Κυρ"],
    months: ["Ιανουάριος", "Φεβρουάριος", "Μάρτιος", "Απρίλιος", "Μάιος", "Ιούνιος", "Ιούλιος", "Αύγουστος", "Σεπτέμβριος", "Οκτώβριος", "Νοέμβριος", "Δεκέμβριος"],
    short_months: ["Ιαν", "Φεβ", "Μάρ", "Απρ", "Μάι", "Ιούν", "Ιούλ", "Αύγ", "Σεπ", "Οκτ", "Νοέ", "Δεκ"],
};
#[rustfmt::skip]
static RM_CH: TimeNames = TimeNames {
    days: ["glindesdi", "mardi", "mesemna", "gievgia", "venderdi", "sonda", "dumengia"],
    short_days: ["gli", "ma", "me", "gie", "ve", "so", "du"],
    months: ["schaner", "favrer", "mars", "avrigl", "matg", "zercladur", "fanadur", "avust", "settember", "october", "november", "december"],
    short_months: ["schan", "favr", "mars", "avr", "matg", "zercl", "fan", "avust", "sett", "oct", "nov", "dec"],
};

/// By number.
#[rustfmt::skip]
const LOCALES: &[(&str, &TimeNames)] = &[
    ("en_US", &EN_US),
    ("en_GB", &EN_US),
    ("ja_JP", &JA_JP),
    ("sv_SE", &SV_SE),
    ("de_DE", &DE_DE),
    ("fr_FR", &FR_FR),
    ("ar_AE", &AR_AE),
    ("ar_BH", &AR_BH),
    ("ar_JO", &AR_JO),
    ("ar_SA", &AR_SA),
    ("ar_SY", &AR_SY),
    ("be_BY", &BE_BY),
    ("bg_BG", &BG_BG),
    ("ca_ES", &CA_ES),
    ("cs_CZ", &CS_CZ),
    ("da_DK", &DA_DK),
    ("de_AT", &DE_AT),
    ("es_ES", &ES_ES),
    ("et_EE", &ET_EE),
    ("eu_ES", &EU_ES),
    ("fi_FI", &FI_FI),
    ("fo_FO", &FO_FO),
    ("gl_ES", &GL_ES),
    ("gu_IN", &GU_IN),
    ("he_IL", &HE_IL),
    ("hi_IN", &HI_IN),
    ("hr_HR", &HR_HR),
    ("hu_HU", &HU_HU),
    ("id_ID", &ID_ID),
    ("is_IS", &IS_IS),
    ("it_CH", &IT_CH),
    ("ko_KR", &KO_KR),
    ("lt_LT", &LT_LT),
    ("lv_LV", &LV_LV),
    ("mk_MK", &MK_MK),
    ("mn_MN", &MN_MN),
    ("ms_MY", &MS_MY),
    ("nb_NO", &NB_NO),
    ("nl_NL", &NL_NL),
    ("pl_PL", &PL_PL),
    ("pt_BR", &PT_BR),
    ("pt_PT", &PT_PT),
    ("ro_RO", &RO_RO),
    ("ru_RU", &RU_RU),
    ("ru_UA", &RU_UA),
    ("sk_SK", &SK_SK),
    ("sl_SI", &SL_SI),
    ("sq_AL", &SQ_AL),
    ("sr_RS", &SR_RS),
    ("ta_IN", &TA_IN),
    ("te_IN", &TE_IN),
    ("th_TH", &TH_TH),
    ("tr_TR", &TR_TR),
    ("uk_UA", &UK_UA),
    ("ur_PK", &UR_PK),
    ("vi_VN", &VI_VN),
    ("zh_CN", &ZH_CN),
    ("zh_TW", &ZH_TW),
    ("ar_DZ", &AR_BH),
    ("ar_EG", &AR_BH),
    ("ar_IN", &AR_BH),
    ("ar_IQ", &AR_BH),
    ("ar_KW", &AR_BH),
    ("ar_LB", &AR_JO),
    ("ar_LY", &AR_BH),
    ("ar_MA", &AR_BH),
    ("ar_OM", &AR_BH),
    ("ar_QA", &AR_BH),
    ("ar_SD", &AR_BH),
    ("ar_TN", &AR_BH),
    ("ar_YE", &AR_BH),
    ("de_BE", &DE_DE),
    ("de_CH", &DE_DE),
    ("de_LU", &DE_DE),
    ("en_AU", &EN_US),
    ("en_CA", &EN_US),
    ("en_IN", &EN_US),
    ("en_NZ", &EN_US),
    ("en_PH", &EN_US),
    ("en_ZA", &EN_US),
    ("en_ZW", &EN_US),
    ("es_AR", &ES_ES),
    ("es_BO", &ES_ES),
    ("es_CL", &ES_ES),
    ("es_CO", &ES_ES),
    ("es_CR", &ES_ES),
    ("es_DO", &ES_ES),
    ("es_EC", &ES_ES),
    ("es_GT", &ES_ES),
    ("es_HN", &ES_ES),
    ("es_MX", &ES_ES),
    ("es_NI", &ES_ES),
    ("es_PA", &ES_ES),
    ("es_PE", &ES_ES),
    ("es_PR", &ES_ES),
    ("es_PY", &ES_ES),
    ("es_SV", &ES_ES),
    ("es_US", &ES_ES),
    ("es_UY", &ES_ES),
    ("es_VE", &ES_ES),
    ("fr_BE", &FR_FR),
    ("fr_CA", &FR_FR),
    ("fr_CH", &FR_FR),
    ("fr_LU", &FR_FR),
    ("it_IT", &IT_CH),
    ("nl_BE", &NL_NL),
    ("no_NO", &NB_NO),
    ("sv_FI", &SV_SE),
    ("zh_HK", &ZH_CN),
    ("el_GR", &EL_GR),
    ("rm_CH", &RM_CH),
];
