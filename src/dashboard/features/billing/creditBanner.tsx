import { IconCreditCard } from '@tabler/icons-react';
import { Link } from '@tanstack/react-router';
import shell from '../../app/shell.module.css';
import { useBilling } from './queries.ts';
import { outlookOf } from './text.ts';

/** What comes before the outlook, which says all of an account that is suspended. */
const URGENT: Readonly<Record<string, string>> = {
  low: 'Your credit is running out. ',
  exhausted: 'Your credit is over. ',
  suspended: '',
};

/** On every page, while credit is running out or the account is suspended. */
export function CreditBanner() {
  const { data } = useBilling();
  const said = data && URGENT[data.state];
  if (!data || said === undefined) return null;
  return (
    <div className={shell.banner} role="status" data-testid="credit-banner">
      <IconCreditCard size={18} aria-hidden />
      <span>
        {said}
        {outlookOf(data)} <Link to="/billing">Billing</Link>
      </span>
    </div>
  );
}
