/**
 * Writes billing's marks on streams, except the condition of credit: that a stream is paid for, its acknowledged
 * sessions, and the end of a deleted one. Each is decided anew from the stream as it is, so that it may fail or be done
 * twice.
 */

import { type Kube, KubeError } from '../../../core/kube/types.ts';
import {
  API_VERSION,
  COUNT_FINALIZER,
  CREDIT_CONDITION,
  FIELD_MANAGER_METER,
  FINALIZER,
} from '../../../core/resources/common/names.ts';
import { LOOPSTREAMS, type LoopStream } from '../../../core/resources/stream/resource.ts';
import { findAccount } from './accounts.ts';
import { findAcknowledgeable } from './session-charges.ts';

/** Returns the marks that a paid stream lacks; undefined when it has them all, or is none of ours. */
export function findMissing({ metadata, spec }: LoopStream): { finalizers?: string[]; gates?: object[] } | undefined {
  if (metadata.deletionTimestamp || findAccount({ metadata }) === undefined) return undefined;
  const { finalizers = [] } = metadata;
  const { readinessGates = [] } = spec;
  const lacks = {
    ...(!finalizers.includes(COUNT_FINALIZER) && { finalizers: [...finalizers, COUNT_FINALIZER] }),
    ...(!readinessGates.some(({ conditionType }) => conditionType === CREDIT_CONDITION) && {
      gates: [...readinessGates, { conditionType: CREDIT_CONDITION }],
    }),
  };
  return Object.keys(lacks).length > 0 ? lacks : undefined;
}

/** Whether the sessions of a deleted stream are final: the operator removes its finalizer after the last pod. */
export const isOver = ({ metadata, status }: LoopStream): boolean => {
  const { deletionTimestamp, finalizers = [] } = metadata;
  if (deletionTimestamp === undefined || !finalizers.includes(COUNT_FINALIZER)) return false;
  return !finalizers.includes(FINALIZER) && (status?.sessions ?? []).every(({ endedAt }) => endedAt !== undefined);
};

/** Somebody has written or deleted it meanwhile, which will be seen. */
const isPassing = (error: unknown): boolean =>
  error instanceof KubeError && (error.reason === 'NotFound' || error.reason === 'Conflict');

async function unlessPassed<T>(write: Promise<T>): Promise<T | undefined> {
  try {
    return await write;
  } catch (error) {
    if (isPassing(error)) return undefined;
    throw error;
  }
}

export type StreamMarks = ReturnType<typeof createStreamMarks>;

/** `onWrite` receives each written stream, so that it is read before the watch delivers it. */
export function createStreamMarks(kube: Kube, onWrite: (stream: LoopStream) => void) {
  const reportWrite = (stream: LoopStream | undefined): void => {
    if (stream) onWrite(stream);
  };
  return {
    /** Adds missing finalizers and gates before there is credit, so that no second is lost. False if outdated. */
    async take(stream: LoopStream): Promise<boolean> {
      const lacks = findMissing(stream);
      if (!lacks) return true;
      const { name, namespace = '', resourceVersion } = stream.metadata;
      const { finalizers, gates } = lacks;
      const patch = {
        metadata: { resourceVersion, ...(finalizers && { finalizers }) },
        ...(gates && { spec: { readinessGates: gates } }),
      };
      const taken = await unlessPassed(kube.mergePatch(LOOPSTREAMS, namespace, name, patch));
      reportWrite(taken);
      return taken !== undefined;
    },

    /** Only when all sessions in this object are counted. */
    async acknowledge({ metadata, status }: LoopStream): Promise<void> {
      const last = findAcknowledgeable(status?.sessions ?? [], status?.acknowledgedSession);
      if (last === undefined) return;
      const { name, namespace = '', uid } = metadata;
      const patch = {
        apiVersion: API_VERSION,
        kind: LOOPSTREAMS.kind,
        metadata: { name, namespace, uid },
        status: { acknowledgedSession: last },
      };
      const options = { fieldManager: FIELD_MANAGER_METER, subresource: 'status' } as const;
      reportWrite(await unlessPassed(kube.apply(LOOPSTREAMS, namespace, patch, options)));
    },

    /** Removes a deleted stream's finalizer after its last session is billed. */
    async release({ metadata }: LoopStream): Promise<void> {
      const { name, namespace = '', resourceVersion, finalizers = [] } = metadata;
      const left = finalizers.filter((finalizer) => finalizer !== COUNT_FINALIZER);
      const patch = { metadata: { resourceVersion, finalizers: left } };
      await unlessPassed(kube.mergePatch(LOOPSTREAMS, namespace, name, patch));
    },
  };
}
