/** How far programs are confined. `auto` takes what there is and says in the log what is missing. Pure: no I/O, no clock. */
export const CONFINE_MODES = ['auto', 'required', 'off'] as const;
export type ConfineMode = (typeof CONFINE_MODES)[number];
