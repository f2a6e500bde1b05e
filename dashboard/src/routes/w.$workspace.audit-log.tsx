import { createFileRoute } from '@tanstack/react-router';
import { AuditLogPage } from '../screens/audit-log/audit-log-page';
import { texts } from '../search';

export const Route = createFileRoute('/w/$workspace/audit-log')({
  validateSearch: texts('range', 'filter', 'record'),
  component: AuditLogRoute,
});

function AuditLogRoute() {
  const search = Route.useSearch();
  const navigate = Route.useNavigate();
  return <AuditLogPage search={search} onSearch={(next) => void navigate({ search: next, replace: true })} />;
}
