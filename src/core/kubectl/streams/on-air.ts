/** Reads the lists that a stream has on air, from its pod and its uploads. */
import { type OnAirList, readOnAir } from '../../programme/on-air.ts';
import { PROGRAMME_TRACKS, type ProgrammeTrack } from '../../programme/tracks.ts';
import { readPodProgram } from '../../protocol/to-streamer.ts';
import { STREAM_LABEL } from '../../resources/common/names.ts';
import type { LoopStream } from '../../resources/stream/resource.ts';
import { ON_AIR_PHASES } from '../../resources/stream/spec.ts';
import { UPLOADS, type Upload } from '../../resources/upload/resource.ts';
import type { Cluster } from '../shell/cluster.ts';
import { listPodsOf } from './logs.ts';

export interface ReadLists {
  /** None of a stream off air. */
  lists: Partial<Record<ProgrammeTrack, OnAirList>>;
  findUpload: (name: string) => Upload | undefined;
}

export async function readLists({ kube, namespace }: Cluster, stream: LoopStream, now: Date): Promise<ReadLists> {
  const { phase = 'unknown', podUID } = stream.status ?? {};
  const pods = ON_AIR_PHASES.some((one) => one === phase)
    ? await listPodsOf(kube, namespace, STREAM_LABEL, stream.metadata.name)
    : [];
  const pod = pods.find(({ metadata }) => metadata.uid === podUID) ?? pods[0];
  const program = pod && readPodProgram(pod);
  if (!program) return { lists: {}, findUpload: () => undefined };
  const uploads = new Map((await kube.list(UPLOADS, { namespace })).map((upload) => [upload.metadata.name, upload]));
  const findUpload = (name: string) => uploads.get(name);
  const lists: ReadLists['lists'] = {};
  for (const track of PROGRAMME_TRACKS) {
    const list = readOnAir(stream, program, track, { findUpload, now });
    if (list) lists[track] = list;
  }
  return { lists, findUpload };
}
