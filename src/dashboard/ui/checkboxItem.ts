/** Something to choose, in a list. Pure: no I/O, no clock. */

/** The media that a picture stands for. */
export type PosterKind = 'VIDEO' | 'AUDIO' | 'IMAGE';

export interface CheckboxItem {
  value: string;
  label: string;
  hint?: string | undefined;
  /** Of media. */
  picture?: { url: string | null; kind: PosterKind };
}
