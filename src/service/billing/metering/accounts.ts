/** Finds the account that pays for a stream. Pure: no I/O, no clock. */

import { ACCOUNT_LABEL } from '../../../core/resources/common/names.ts';
import type { LoopStream } from '../../../core/resources/stream/resource.ts';

/** The account of a stream; nobody pays for one that carries no label. */
export const findAccount = ({ metadata }: Pick<LoopStream, 'metadata'>): string | undefined =>
  metadata.labels?.[ACCOUNT_LABEL] || undefined;
