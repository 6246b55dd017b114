/** Who pays for a stream. Pure: no I/O, no clock. */
import type { LoopStream } from '../kube/resources.ts';
import { ACCOUNT_LABEL } from '../streams/names.ts';

/** The account of a stream; nobody pays for one that carries no label. */
export const accountOf = ({ metadata }: Pick<LoopStream, 'metadata'>): string | undefined =>
  metadata.labels?.[ACCOUNT_LABEL] || undefined;
