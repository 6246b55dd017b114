/**
 * Declares the commands that the operator posts to a streamer's pod, and the answer to a skip. The operator shows the control token.
 * Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { type Read, readMessage } from './read-message.ts';
import { StreamClock } from './report.ts';

/** To SKIP_PATH: the next item of a track. */
export const SkipRequest = Type.Object({
  /** Id of the request: a repeat with the same id is the same skip. */
  id: Type.String({ minLength: 1, maxLength: 256 }),
  track: Type.Enum(['video', 'audio'], { default: 'video' }),
});
export type SkipRequest = Static<typeof SkipRequest>;

/** The answer with status 200: where the stream stands after the skip. */
export const SkipAnswer = Type.Object({ clock: StreamClock });
export type SkipAnswer = Static<typeof SkipAnswer>;

/** To RELEASE_PATH: the pod of this UID may publish. */
export const ReleaseRequest = Type.Object({ podUID: Type.String() });
export type ReleaseRequest = Static<typeof ReleaseRequest>;

export const readSkipAnswer = (value: unknown): Read<SkipAnswer> => readMessage(SkipAnswer, value, 'lenient');
