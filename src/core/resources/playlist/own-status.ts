/** Takes over nothing of a playlist's status that another UID had: all of it is judged anew. Pure: no I/O, no clock. */
import { believeStatus } from '../common/own-status.ts';
import type { Playlist } from './resource.ts';

/** The playlist with a status that can be believed. */
export const believePlaylist = believeStatus<Playlist>(() => ({}));
