/** The steps of a destination's test as a person follows them. Pure: no I/O, no clock. */

import type { TestStage } from '../../../core/resources/destination/spec.ts';
import type { DestinationTest } from '../../../service/client/index.ts';

export interface DestinationTestStep {
  stage: TestStage;
  label: string;
  state: 'passed' | 'failed' | 'not reached';
}

const LABELS: Record<TestStage, string> = {
  resolve: 'Find the server',
  connect: 'Connect',
  tls: 'Secure the connection',
  handshake: 'RTMP handshake',
  publish: 'Publish with the key',
};

/** The stages of a test: only rtmps:// is secured, and an SRT server tells only whether it took the publish. */
function listStages(rtmpUrl: string): TestStage[] {
  if (/^srt:/i.test(rtmpUrl)) return ['resolve', 'publish'];
  return /^rtmps:/i.test(rtmpUrl)
    ? ['resolve', 'connect', 'tls', 'handshake', 'publish']
    : ['resolve', 'connect', 'handshake', 'publish'];
}

/** All before the stage it came to are passed; that one is too, if the destination took the publish. */
export function buildSteps(
  rtmpUrl: string,
  { ok, stage }: Pick<DestinationTest, 'ok' | 'stage'>,
): DestinationTestStep[] {
  const stages = listStages(rtmpUrl);
  const reached = stages.indexOf(stage);
  return stages.map((step, i) => ({
    stage: step,
    label: LABELS[step],
    state: ok || i < reached ? 'passed' : i === reached ? 'failed' : 'not reached',
  }));
}
