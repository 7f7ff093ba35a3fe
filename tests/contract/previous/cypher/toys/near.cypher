// @query   toys.near
// @since   0.0.1
// @mode    read
// @card    many
// @param   vector  LIST<FLOAT NOT NULL> NOT NULL
// @return  id      STRING NOT NULL
// @locks   none
// @index   contract_toy_vector
MATCH (t:ContractToy)
  SEARCH t IN (
    VECTOR INDEX contract_toy_vector
    FOR $vector
    LIMIT 1
  )
RETURN t.id AS id
