/** Three dashboards: the fleet, one stream, the processes that look after them. Pure: no I/O, no clock. */
import { FLEET } from './fleet.ts';
import type { Dashboard } from './panel.ts';
import { OPERATOR } from './processes.ts';
import { STREAM } from './stream.ts';

export const DASHBOARDS: Dashboard[] = [FLEET, STREAM, OPERATOR];
