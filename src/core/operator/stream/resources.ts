/**
 * Computes the resources of a stream's pod from measured use. Pure: no I/O, no clock.
 *
 * | measured (test/bench/RESULTS.md, what a stream takes) | processor    | memory, PSS |
 * | ----------------------------------------------------- | ------------ | ----------- |
 * | media on a volume, one output, 1.6 Mbit/s             | 0.3 % a core | 22 MiB      |
 * | the same, 4 Mbit/s (720p30)                           | 0.4 %        | 23 MiB      |
 * | the same, 6 Mbit/s (1080p30)                          | 0.5 %        | 26 MiB      |
 * | each further output                                   | 0.13 %       | 0.7 MiB     |
 * | the same by RTMPS, at 4 Mbit/s                        | 0.4 %        | 5 MiB       |
 * | media in S3 with its cache, one output                | 0.6 %        | 66 MiB      |
 *
 * The requested processor time is a pod's share of a node that is full, and its start takes 0.3 s of it, with S3 0.8 s. With 50m a stream
 * is on air 6 to 16 seconds after its start there; with 22m, a pod that took over was late by up to 19 s. The request for memory is a third
 * above use, and has room for what the kernel counts as the pod's, such as the buffers of connections, and for a slow output's queue.
 */
import { bitrateKbps, parseProfile } from '../../resources/stream/profile.ts';

/** Thousandths of a core: of each stream, of each output, and of each Mbit/s of an output. */
const MILLICPUS = { stream: 44, output: 2, outputMbps: 0.75 };
/** MiB: of each stream by where its media is, of each output, of each Mbit/s. */
const MIBS = { volume: 32, s3: 72, output: 8, mbps: 1.5 };

/** The limits are the same for all streams: a pod on air takes up another profile and up to five destinations as it is. */
const LIMITS = { cpu: '1', memory: '512Mi' };

export interface StreamUse {
  profile: string;
  outputs: number;
  /** Where the media is. */
  storage: 'volume' | 's3';
}

/** A profile of a later release counts as the largest of this one. */
const readMbps = (profile: string): number => {
  const { quality, framerate } = parseProfile(profile) ?? { quality: '2160p', framerate: 60 };
  return bitrateKbps(quality, framerate) / 1000;
};

/** Returns the requests and limits of a pod, as Kubernetes' quantities. */
export function streamResources({ profile, outputs, storage }: StreamUse) {
  const mbps = readMbps(profile);
  const cpu = Math.ceil(MILLICPUS.stream + outputs * (MILLICPUS.output + mbps * MILLICPUS.outputMbps));
  const memory = Math.ceil(MIBS[storage] + outputs * MIBS.output + mbps * MIBS.mbps);
  return { requests: { cpu: `${cpu}m`, memory: `${memory}Mi` }, limits: LIMITS };
}
