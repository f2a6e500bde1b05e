/**
 * Grants the role of tenants rights on tables that have no column of the organization, and so no policy. Grants nothing
 * where the role could not be created.
 */
export const grantToTenants = (rights: string, tables: string): string => `
  DO $$ BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'gatehouse_tenant') THEN
      GRANT ${rights} ON ${tables} TO gatehouse_tenant;
    END IF;
  END $$`;
