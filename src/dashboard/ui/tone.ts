/** The meaning of a tag's colour. Pure: no I/O, no clock. */
export type Tone = 'good' | 'busy' | 'attention' | 'danger' | 'planned' | 'quiet';
