-- A report as a bug tracker has it: `rig scenario PLAN.yaml lost-stock.sql` plays it.
create table stock (item varchar(20) primary key, n int);
insert into stock values ('cup', 3);
-- T1
begin;
select n from stock where item = 'cup';
-- T2
begin;
select n from stock where item = 'cup';
/* T1 */ update stock set n = 2 where item = 'cup';
T1> commit;
T2> update stock set n = 2 where item = 'cup';
T2> commit;
-- final
select * from stock;
