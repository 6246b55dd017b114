/** Something to choose, in a list. Pure: no I/O, no clock. */
export interface Tick {
  value: string;
  label: string;
  hint?: string | undefined;
}
