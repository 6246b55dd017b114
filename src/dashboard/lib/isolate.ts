/**
 * Writes names that people typed into sentences. A name may have letters from right to left, or a sign that turns the text after it around,
 * and the sentence around it has to stay as it is. Where a name is an element of its own, `<Name>` does the same. Pure: no I/O, no clock.
 */

/** Letters from right to left, and signs for directions (https://www.unicode.org/reports/tr9/, sections 2 and 3.2). */
const DIRECTED =
  /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
/** Signs by which a name could leave its isolate. */
const SIGNS = /[\u202a-\u202e\u2066-\u2069]/g;

/** The name with a direction of its own (FSI and PDI); most names need none, and stay as they are. */
export const isolate = (name: string): string =>
  DIRECTED.test(name) ? `\u2068${name.replace(SIGNS, '')}\u2069` : name;

/** `“Night fireplace”`. */
export const quote = (name: string): string => `“${isolate(name)}”`;
