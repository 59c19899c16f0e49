// MongoDB values as text in shell syntax, literals only. Parsing evaluates nothing; printing and
// parsing again preserves every type and value.
export { type Parsed, parseShell } from './parse';
export { printShell } from './print';
