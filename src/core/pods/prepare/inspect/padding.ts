/** Says how far sound reaches beyond the pictures before it is noticed. Pure: no I/O, no clock. */

/**
 * A smaller difference between sound and pictures is padding of a codec, or a rest of cameras and editors. The pictures
 * decide then, and may be copied.
 */
export const PADDING_SECONDS = 0.15;

/** Returns zero for a difference that is padding. */
export const beyondPadding = (seconds: number): number => (seconds > PADDING_SECONDS ? seconds : 0);
