/** Recognizes an answer that the strict parser of HTTP gave up. Pure: no I/O, no clock. */

const CODES = /^(HPE_.*|UND_ERR_(HEADERS_OVERFLOW|INVALID_ARG|RES_CONTENT_LENGTH_MISMATCH))$/;

/** Whether it is an error of undici about the form of an answer: of its parser, or of its limits. */
export function isUnreadable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return error.name === 'HTTPParserError' || ('code' in error && CODES.test(String(error.code)));
}
