/** The ways between the pages: a column beside the page where there is room, a bar below it on a phone. */
import { Link, useLocation } from '@tanstack/react-router';
import { useBilling } from '../features/billing/queries.ts';
import classes from './navigation.module.css';
import { NAVIGATION_ITEMS, type NavigationItem } from './navigationItems.ts';

const Way = ({ place: { to, label, icon: Icon, exact = false } }: { place: NavigationItem }) => (
  <li>
    <Link to={to} className={classes.link} activeProps={{ className: classes.here }} activeOptions={{ exact }}>
      <Icon size={20} stroke={1.7} aria-hidden />
      <span>{label}</span>
    </Link>
  </li>
);

const ways = (personal: boolean, costs: boolean) =>
  NAVIGATION_ITEMS.filter((place) => (place.personal ?? false) === personal && (costs || !place.paid)).map((place) => (
    <Way key={place.label} place={place} />
  ));

export function Navigation() {
  // Somebody who is at the page of billing sees its entry, also before it is known whether anything costs.
  const isThere = useLocation({ select: ({ pathname }) => pathname.startsWith('/billing') });
  const costs = useBilling().data !== undefined || isThere;
  const own = ways(true, costs);
  return (
    <nav className={classes.nav} aria-label="Main">
      <ul>{ways(false, costs)}</ul>
      {own.length > 0 && <ul className={classes.personal}>{own}</ul>}
    </nav>
  );
}
