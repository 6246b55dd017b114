/** What a tag's colour says. Pure: no I/O, no clock. */
export type Tone = 'good' | 'busy' | 'attention' | 'danger' | 'planned' | 'quiet';
