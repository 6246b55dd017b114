/** Names the lists of a stream: of pictures with their sound, and of sound alone. Pure: no I/O, no clock. */
export const PROGRAMME_TRACKS = ['video', 'audio'] as const;
export type ProgrammeTrack = (typeof PROGRAMME_TRACKS)[number];
