/** Tells the story of a playlist. */

import pMap from 'p-map';
import { findStreamCode } from '../../lib/codes/streams.ts';
import { findCondition } from '../../resources/common/conditions.ts';
import { PLAYLISTS, type Playlist } from '../../resources/playlist/resource.ts';
import { listNeededUploads } from '../../resources/playlist/spec.ts';
import { LOOPSTREAMS, type LoopStream } from '../../resources/stream/resource.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import { explain } from '../streams/problems.ts';
import type { Reader } from './facts.ts';
import { type DiagnosedFact, listConditions, listEvents, mergeFindings, type Story } from './story.ts';
import { describeUploadRow, findUploadFaults } from './upload.ts';

/** Requests for uploads at once: a playlist has up to 500. */
const CONCURRENCY = 8;

function findFaults({ status }: Playlist): DiagnosedFact[] {
  const condition = ['Ready', 'Prepared']
    .map((type) => findCondition(status?.conditions, type))
    .find((one) => one !== undefined && one.status !== 'True');
  const fix = findStreamCode(condition?.reason ?? '')?.fix ?? 'Replace these items, or remove them from the playlist.';
  return condition ? [{ message: condition.message, fix }] : [];
}

const plays = (name: string, { spec }: LoopStream): boolean =>
  [...(spec.playlistNames ?? []), ...(spec.audioPlaylistNames ?? [])].includes(name);

export async function tellPlaylist(reader: Reader, name: string, now: Date): Promise<Story> {
  const { kube, namespace } = reader;
  const playlist = await kube.get(PLAYLISTS, namespace, name);
  const [found, streams, events] = await Promise.all([
    pMap(
      listNeededUploads(playlist),
      (one) => reader.attempt<Upload | undefined>(kube.get(UPLOADS, namespace, one), undefined),
      {
        concurrency: CONCURRENCY,
      },
    ),
    reader.attempt<LoopStream[]>(kube.list(LOOPSTREAMS, { namespace }), []),
    reader.events({ kind: 'Playlist', name }),
  ]);
  const uploads = found.filter((one) => one !== undefined);
  const { displayName, items } = playlist.spec;
  const ready = findCondition(playlist.status?.conditions, 'Ready');
  const state = ready?.status === 'True' ? 'can be played' : 'cannot be played';
  return {
    summary: `Playlist "${name}"${displayName ? ` (${displayName})` : ''} ${state}. It has ${items.length} items.`,
    findings: mergeFindings(findFaults(playlist), uploads.flatMap(findUploadFaults)),
    sections: [
      listConditions(playlist.status?.conditions, now),
      { title: 'Media', rows: uploads.map(describeUploadRow) },
      {
        title: 'Streams',
        rows: streams
          .filter((stream) => plays(name, stream))
          .map((stream) => [stream.metadata.name, stream.status?.phase ?? 'unknown', explain(stream).why]),
      },
      listEvents(events, now),
    ],
    unseen: reader.unseen,
  };
}
