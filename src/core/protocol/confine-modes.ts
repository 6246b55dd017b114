/**
 * Defines how far programs are confined. `auto` confines as far as the kernel can, and logs what is missing. Pure: no
 * I/O, no clock.
 */
export const CONFINE_MODES = ['auto', 'required', 'off'] as const;
export type ConfineMode = (typeof CONFINE_MODES)[number];
