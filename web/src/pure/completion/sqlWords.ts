// Keywords, functions with arguments, and aggregates of the NoSQL query language that this server
// supports. A test compares them with docs/compat/cosmos-nosql.md.

export const SQL_KEYWORDS: readonly string[] =
  `SELECT|DISTINCT|TOP|VALUE|FROM|JOIN|IN|WHERE|AND|OR|NOT|
BETWEEN|LIKE|ESCAPE|EXISTS|ARRAY|ALL|GROUP BY|ORDER BY|ASC|DESC|OFFSET|LIMIT|AS|null|true|false|
undefined`
    .replaceAll('\n', '')
    .split('|');

/** Each as `NAME(arguments)`; optional ones in brackets. */
const SIGNATURES = `ABS(number)
ACOS(number)
AGO(duration)
ARRAY_AVG(array)
ARRAY_CONCAT(array, array, …)
ARRAY_CONTAINS(array, value [, partial])
ARRAY_CONTAINS_ALL(array, value, …)
ARRAY_CONTAINS_ANY(array, value, …)
ARRAY_LENGTH(array)
ARRAY_MAX(array)
ARRAY_MEDIAN(array)
ARRAY_MIN(array)
ARRAY_SLICE(array, start [, length])
ARRAY_SUM(array)
ASIN(number)
ATAN(number)
ATN2(y, x)
CEILING(number)
CHOOSE(index, value, …)
CONCAT(text, text, …)
CONTAINS(text, part [, ignoreCase])
CONTAINS_ALL_CI(text, part, …)
CONTAINS_ALL_CS(text, part, …)
CONTAINS_ANY_CI(text, part, …)
CONTAINS_ANY_CS(text, part, …)
COS(number)
COT(number)
DATETIMEADD(part, number, date)
DATETIMEBIN(date, part [, size] [, origin])
DATETIMEDIFF(part, from, to)
DATETIMEFORMAT(date, format)
DATETIMEFROMPARTS(year, month, day [, hour] [, minute] [, second] [, fraction])
DATETIMEPART(part, date)
DATETIMETOTICKS(date)
DATETIMETOTIMESTAMP(date)
DAY(date)
DEGREES(number)
DOCUMENTID(item)
ENDSWITH(text, end [, ignoreCase])
EXP(number)
FLOOR(number)
GETCURRENTDATETIME()
GETCURRENTDATETIMESTATIC()
GETCURRENTTICKS()
GETCURRENTTICKSSTATIC()
GETCURRENTTIMESTAMP()
GETCURRENTTIMESTAMPSTATIC()
IIF(condition, then, else)
INDEX_OF(text, part [, start])
INTADD(a, b)
INTBITAND(a, b)
INTBITLEFTSHIFT(a, bits)
INTBITNOT(a)
INTBITOR(a, b)
INTBITRIGHTSHIFT(a, bits)
INTBITXOR(a, b)
INTDIV(a, b)
INTMOD(a, b)
INTMUL(a, b)
INTSUB(a, b)
IS_ARRAY(value)
IS_BOOL(value)
IS_DATETIME(value)
IS_DEFINED(value)
IS_FINITE_NUMBER(value)
IS_INTEGER(value)
IS_NULL(value)
IS_NUMBER(value)
IS_OBJECT(value)
IS_PRIMITIVE(value)
IS_STRING(value)
LASTINDEXOF(text, part)
LASTSUBSTRINGAFTER(text, part)
LASTSUBSTRINGBEFORE(text, part)
LEFT(text, length)
LENGTH(text)
LOG(number [, base])
LOG10(number)
LOWER(text)
LTRIM(text)
MONTH(date)
NOW()
NUMBERBIN(number [, size])
OBJECTTOARRAY(object)
PI()
POWER(number, exponent)
RADIANS(number)
RAND()
REGEXEXTRACT(text, pattern [, options])
REGEXEXTRACTALL(text, pattern [, options])
REGEXMATCH(text, pattern [, options])
REPLACE(text, part, by)
REPLICATE(text, times)
REVERSE(text)
RIGHT(text, length)
ROUND(number [, digits])
RTRIM(text)
SETDIFFERENCE(array, array)
SETEQUAL(array, array)
SETINTERSECT(array, array)
SETUNION(array, array)
SIGN(number)
SIN(number)
SQRT(number)
SQUARE(number)
STARTSWITH(text, begin [, ignoreCase])
STRINGEQUALS(text, text [, ignoreCase])
STRINGJOIN(array, separator)
STRINGSPLIT(text, separator)
STRINGTOARRAY(text)
STRINGTOBOOLEAN(text)
STRINGTONULL(text)
STRINGTONUMBER(text)
STRINGTOOBJECT(text)
SUBSTRING(text, start, length)
SUBSTRINGAFTER(text, part)
SUBSTRINGBEFORE(text, part)
TAN(number)
TICKSTODATETIME(ticks)
TIMESTAMPTODATETIME(milliseconds)
TOSTRING(value)
TRIM(text)
TRUNC(number)
UPPER(text)
YEAR(date)`;

const AGGREGATES = `AVG(number)
COUNT(value)
COUNTIF(condition)
MAKELIST(value)
MAKESET(value)
MAX(value)
MIN(value)
SUM(number)`;

export interface SqlFunction {
  name: string;
  /** With its parentheses and arguments. */
  signature: string;
  isAggregate: boolean;
}

function read(lines: string, isAggregate: boolean): SqlFunction[] {
  return lines.split('\n').map((signature) => ({
    name: signature.slice(0, signature.indexOf('(')),
    signature,
    isAggregate,
  }));
}

export const SQL_FUNCTIONS: readonly SqlFunction[] = [
  ...read(SIGNATURES, false),
  ...read(AGGREGATES, true),
];
