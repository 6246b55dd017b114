/** Describes streams as a kind of thing that has pages of its own. */
import { Link } from '@tanstack/react-router';
import type { DetailKind } from '../../ui/detailPage.tsx';

export const STREAM: DetailKind = {
  noun: 'stream',
  list: '/streams',
  remains: 'It is off air. Its media and destinations are still in your account.',
  create: <Link to="/create">Create a stream</Link>,
};
