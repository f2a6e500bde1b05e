/** A condition on `pg_class c`: the tables of Gatehouse's schema, partitions included, without those of extensions. */
export const OWN_TABLES = `
  c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`;
