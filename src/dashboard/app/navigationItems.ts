/**
 * Where one can go, in the order it is shown: in the side bar of a wide page, and in the bar at the bottom of a phone. An entry
 * is here only if its page exists.
 */
import {
  IconBell,
  IconBroadcast,
  IconCreditCard,
  IconKey,
  IconLayoutDashboard,
  IconPlaylist,
  IconPlugConnected,
  IconSend,
  IconUpload,
  IconUser,
} from '@tabler/icons-react';
import type { LinkProps } from '@tanstack/react-router';

export interface NavigationItem {
  to: NonNullable<LinkProps['to']>;
  label: string;
  icon: typeof IconBroadcast;
  /** Only the page itself, and not those below it. */
  exact?: boolean;
  /** About the person and not about their streams: apart from the others, and on a phone in the header. */
  personal?: boolean;
  /** Only where anything costs something. */
  paid?: boolean;
}

export const NAVIGATION_ITEMS: readonly NavigationItem[] = [
  { to: '/', label: 'Overview', icon: IconLayoutDashboard, exact: true },
  { to: '/streams', label: 'Streams', icon: IconBroadcast },
  { to: '/uploads', label: 'Uploads', icon: IconUpload },
  { to: '/playlists', label: 'Playlists', icon: IconPlaylist },
  { to: '/destinations', label: 'Destinations', icon: IconSend },
  { to: '/notifications', label: 'Notifications', icon: IconBell, personal: true },
  { to: '/billing', label: 'Billing', icon: IconCreditCard, personal: true, paid: true },
  { to: '/account', label: 'Account', icon: IconUser, exact: true, personal: true },
  { to: '/account/keys', label: 'API keys', icon: IconKey, personal: true },
  { to: '/account/apps', label: 'Connected apps', icon: IconPlugConnected, personal: true },
];
