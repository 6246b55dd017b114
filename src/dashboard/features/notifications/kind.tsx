/** Describes endpoints as a kind of thing that has pages of its own, and the kinds of endpoints. */
import {
  IconBrandDiscord,
  IconBrandSlack,
  IconLink,
  IconMail,
  IconWebhook,
  type TablerIcon,
} from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import type { Endpoint } from '../../../service/client/index.ts';
import type { DetailKind } from '../../ui/detailPage.tsx';

export const ENDPOINT: DetailKind = {
  noun: 'endpoint',
  list: '/notifications',
  remains: 'Nothing is sent there any more.',
  create: (
    <Link to="/notifications" search={{ form: 'new' }}>
      Add endpoint
    </Link>
  ),
};

const ICONS: Record<Endpoint['kind'], TablerIcon> = {
  mail: IconMail,
  slack: IconBrandSlack,
  discord: IconBrandDiscord,
  webhook: IconWebhook,
  template: IconLink,
};

export function EndpointIcon({ kind, size = 22 }: { kind: Endpoint['kind']; size?: number }) {
  const Icon = ICONS[kind];
  return <Icon size={size} stroke={1.6} aria-hidden />;
}
