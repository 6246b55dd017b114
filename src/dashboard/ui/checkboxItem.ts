/** Something to choose, in a list. Pure: no I/O, no clock. */
export interface CheckboxItem {
  value: string;
  label: string;
  hint?: string | undefined;
  /** Of media. */
  picture?: { url: string | null; kind: 'VIDEO' | 'AUDIO' };
}
