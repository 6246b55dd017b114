/** Says whether a stream plays a playlist. Pure: no I/O, no clock. */
import type { Stream } from '../../api/api.ts';

export const playsPlaylist = (
  { playlistIDs, audioPlaylistIDs }: Pick<Stream, 'playlistIDs' | 'audioPlaylistIDs'>,
  playlistId: string,
): boolean => [playlistIDs, audioPlaylistIDs].flat().includes(playlistId);
