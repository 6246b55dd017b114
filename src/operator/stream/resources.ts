/**
 * Computes the resources of a stream's pod from measured use. Pure: no I/O, no clock.
 *
 * | measured (test/bench/RESULTS.md, cost of a stream) | processor     | memory, PSS |
 * | -------------------------------------------------- | ------------- | ----------- |
 * | one output, 1.6 Mbit/s                             | 0.55 % a core | 42 MiB      |
 * | one output, 4 Mbit/s (720p30)                      | 0.9 %         | 63 MiB      |
 * | one output, 6 Mbit/s (1080p30)                     | 1.2 %         | 62 MiB      |
 * | each further output, 4 Mbit/s                      | 0.13 %        | 9 MiB       |
 *
 * The requested processor time is a pod's share of a node that is full, and its start takes half a second of it. With 50m a stream is on air
 * ten seconds after its start there; with 22m, twice its use, a pod that took over was late by up to 19 s. It requests its memory with room
 * for the buffers of its connections, which the kernel counts as the pod's.
 */
import { bitrateKbps, parseProfile } from '../../resources/stream/profile.ts';

/** Thousandths of a core: of each stream, of each output, of each Mbit/s. */
const MILLICPUS = { stream: 38, output: 4, mbps: 2 };
const MIBS = { stream: 64, output: 12, mbps: 1 };

/** The limits are the same for all streams: a pod on air takes up another profile and up to five destinations as it is. */
const LIMITS = { cpu: '1', memory: '512Mi' };

/** A profile of a later release counts as the largest of this one. */
const readMbps = (profile: string): number => {
  const { quality, framerate } = parseProfile(profile) ?? { quality: '2160p', framerate: 60 };
  return bitrateKbps(quality, framerate) / 1000;
};

/** Returns the requests of a pod that sends this profile to so many destinations, and its limits, as Kubernetes' quantities. */
export function streamResources(profile: string, outputs: number) {
  const mbps = readMbps(profile);
  const sum = (use: typeof MIBS) => Math.ceil(use.stream + outputs * use.output + mbps * use.mbps);
  return { requests: { cpu: `${sum(MILLICPUS)}m`, memory: `${sum(MIBS)}Mi` }, limits: LIMITS };
}
