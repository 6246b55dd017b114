/**
 * Declares the program that a streamer pod plays. The operator passes it in the pod annotation PROGRAM_ANNOTATION, and
 * the pod reads it as a file through the downward API. It holds no secret: destinations are named, their URL and key
 * are files of a Secret. Pure: no I/O, no clock.
 */
import { type Static, Type } from 'typebox';
import { Playing } from '../resources/stream/playing.ts';
import { Standings } from '../resources/stream/standing.ts';

export const Program = Type.Object({
  /** `version` rises by one with each published change of what is played; where it is sent has no part in it. */
  ...Playing.properties,
  /**
   * On-air epoch of the video: item and offset are a pure function of (epoch, version, seed, now). A streamer begins by it;
   * while it runs, a skip or a new version moves its own, which the operator then writes here for the pod after it.
   */
  epoch: Type.String({ format: 'date-time' }),
  /** The same of the audio list, where it has moved by itself. */
  audioEpoch: Type.Optional(Type.String({ format: 'date-time' })),
  /** Where the lists with rules stood at their epochs. Without it, the rules begin then. */
  standings: Type.Optional(Standings),
  /** The last skip of each track that has been carried out, so that none is done twice. */
  skipped: Type.Optional(Type.Object({ video: Type.Optional(Type.String()), audio: Type.Optional(Type.String()) })),
  /** Seed of the shuffle. */
  seed: Type.Integer(),
  /** Names of destinations: each is a member of the JSON in LOOPSTREAM_DESTINATIONS_FILE, with the keys of its Secret. */
  destinations: Type.Array(Type.String(), { minItems: 1 }),
  /**
   * Changes with the content of that file. Nothing reads it: a change of the pod's object makes kubelet update the
   * files of its volumes at once, which for a Secret alone takes a minute or two.
   */
  destinationsRevision: Type.Optional(Type.String()),
});
export type Program = Static<typeof Program>;

export const toPlaying = ({ version, profile, video, audio, slate }: Program): Playing => ({
  version,
  profile,
  video,
  ...(audio && { audio }),
  ...(slate !== undefined && { slate }),
});
