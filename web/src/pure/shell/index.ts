// Values of MongoDB as text, the way its shell writes them: literals only. Reading evaluates
// nothing; printing and reading again keeps every type and value.
export { type Parsed, parseShell } from './parse';
export { printShell } from './print';
