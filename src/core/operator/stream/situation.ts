/** Describes the situation of a stream: an observation with everything that a decision asks of it, computed once (decide.ts). */

import type { Pod } from '../../kube/core.ts';
import type { Program } from '../../protocol/program.ts';
import type { OffSchedule, ScheduleState } from '../../resources/stream/schedule.ts';
import type { MediaAssessment } from '../media/assess.ts';
import type { PodSettings } from '../pods/security.ts';
import type { Verdict } from '../runtime/controller.ts';
import type { Observation } from './observation.ts';
import type { Playhead } from './program.ts';

export interface Situation extends Observation {
  settings: PodSettings;
  /** The stream's pods. The one that publishes, or is to, comes first. */
  pods: readonly Pod[];
  /** The program of the first of them. */
  program: Program | undefined;
  /** Where the stream stands, by that program, or by its status. */
  playhead: Playhead | undefined;
  schedule: ScheduleState;
  /** The schedule, where it keeps the stream off air now. */
  offSchedule: OffSchedule | undefined;
  /** The stream is meant to be on air now. */
  isDue: boolean;
  media: MediaAssessment;
  /** A stream on air is left as it is until what it is to become can be played: an edit never causes dead air by itself. */
  stays: boolean;
  /** Conditions of what the stream refers to and says itself. */
  readiness: readonly Verdict[];
  /** The gate that takes a stream on air off air. */
  closedGate: Verdict | undefined;
  /** The condition that keeps a stream without a pod off air. */
  obstacle: Verdict | undefined;
  /** Nothing speaks against a start, and nothing is still unknown. */
  isReadyToStart: boolean;
  /** The stream was live when its status was written, or is coming back from that. */
  wasLive: boolean;
}
