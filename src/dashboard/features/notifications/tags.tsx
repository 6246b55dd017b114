/** The states of endpoints and deliveries, each in a word. */
import {
  IconAlertTriangle,
  IconCircleCheck,
  IconCircleX,
  IconClock,
  IconPlayerPause,
  type TablerIcon,
} from '@tabler/icons-react';
import type { Delivery, Endpoint } from '../../../service/client/index.ts';
import { Tag } from '../../ui/tag.tsx';
import type { Tone } from '../../ui/tone.ts';
import { DELIVERY_STATES, describeState } from './text.ts';

const ICONS: Record<Tone, TablerIcon> = {
  good: IconCircleCheck,
  busy: IconClock,
  attention: IconAlertTriangle,
  danger: IconCircleX,
  planned: IconClock,
  quiet: IconPlayerPause,
};

export function StateTag({ endpoint }: { endpoint: Endpoint }) {
  const { word, tone } = describeState(endpoint);
  return (
    <Tag tone={tone} icon={ICONS[tone]}>
      {word}
    </Tag>
  );
}

export function DeliveryTag({ state }: Pick<Delivery, 'state'>) {
  const { word, tone } = DELIVERY_STATES[state];
  return (
    <Tag tone={tone} icon={ICONS[tone]}>
      {word}
    </Tag>
  );
}
