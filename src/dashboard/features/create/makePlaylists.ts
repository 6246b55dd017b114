/** Makes the playlists that several files of a new stream become. */
import { newKey } from '../../../service/client/send.ts';
import type { Api } from '../../api/api.ts';
import type { MadePlaylists, PlannedPlaylist } from './steps.ts';

/** Sent again with the same key, they are made once. */
export async function makePlaylists(
  { name }: { name: string },
  planned: readonly PlannedPlaylist[],
  playlists: Api['calls']['playlists'],
  key = newKey(),
): Promise<MadePlaylists> {
  const made: MadePlaylists = {};
  for (const { kind, objectIDs } of planned) {
    const items = objectIDs.map((uploadObjectID) => ({ uploadObjectID }));
    const body = { name: name.trim(), kind, mode: 'sequential' as const, items };
    made[kind] = (await playlists.create(body, { idempotencyKey: `${key}-${kind}` })).id;
  }
  return made;
}
