/** Declares the kind LoopStream. Pure: no I/O, no clock. */
import type { KubeObject, Stored } from '../../kube/types.ts';
import { ownKind } from '../common/resource.ts';
import type { LoopStreamSpec, LoopStreamStatus } from './spec.ts';

export type LoopStream = Stored<KubeObject<LoopStreamSpec, LoopStreamStatus>>;
export const LOOPSTREAMS = ownKind<KubeObject<LoopStreamSpec, LoopStreamStatus>>('LoopStream', 'loopstreams');
