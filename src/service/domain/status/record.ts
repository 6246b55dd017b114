/** Defines the status of the service as clients see it. Pure: no I/O, no clock. */
import { type Static, Type } from 'typebox';

const Component = Type.Enum(['ok', 'unavailable'], { title: 'ComponentState' });
export const Status = Type.Object(
  {
    status: Type.Enum(['ok', 'degraded'], { description: 'degraded: a component is unavailable.' }),
    version: Type.String(),
    time: Type.String({ format: 'date-time' }),
    // A newer server may have components that a client does not know.
    components: Type.Unsafe<Record<string, Static<typeof Component>>>(
      Type.Object({ kubernetes: Component, database: Component }),
    ),
  },
  { title: 'Status' },
);
export type Status = Static<typeof Status>;
