#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# accounting - rules on account and QoS, in a cluster that has them: with slurmdbd, and a MariaDB of its own
set -u
. "$(dirname "$0")/tap.sh"

top=${SPOOR_SOURCE:-$(cd "$(dirname "$0")/.." && pwd)}
build=${SPOOR_BUILD:-$PWD}
site=$build/site
work=$(mktemp -d "${TMPDIR:-/tmp}/accounting.XXXXXX") || exit 1
chmod 711 "$work"
unset TMPDIR
ending=$build/tests/ending
PATH=$PATH:/usr/sbin
. "$top/tests/jobs.sh"

[ "$(id -u)" = 0 ] || { echo '1..0 # SKIP a cluster needs root' && exit; }
for tool in mariadbd slurmdbd sacctmgr; do
	command -v $tool >/dev/null || { echo "1..0 # SKIP $tool is not installed (Debian: mariadb-server, slurmdbd)" && exit; }
done

clean_up() {
	"$top/tests/site" stop "$build"
	local file pid
	for file in "$work"/slurmdbd.pid "$work"/mariadbd.pid; do
		read -r pid 2>/dev/null <"$file" && kill "$pid" && for _ in {1..50}; do [ -e "/proc/$pid" ] && sleep 0.1; done
	done
	rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 1' INT TERM HUP

free_port() {
	python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
sql_port=$(free_port) dbd_port=$(free_port)

# The database.
share=$(dirname "$(dirname "$(command -v mariadbd)")")/share/mysql
mkdir "$work/data"
{
	echo 'CREATE DATABASE IF NOT EXISTS mysql; USE mysql; SET @auth_root_socket=NULL;'
	cat "$share"/mysql_system_tables.sql "$share"/mysql_system_tables_data.sql
	echo "FLUSH PRIVILEGES; CREATE DATABASE slurm; CREATE USER slurm@'127.0.0.1' IDENTIFIED BY 'slurm'; GRANT ALL ON slurm.* TO slurm@'127.0.0.1';"
} >"$work/bootstrap.sql"
mariadb_options="--no-defaults --user=root --datadir=$work/data --lc-messages-dir=$share --socket=$work/sql --port=$sql_port --bind-address=127.0.0.1
	--pid-file=$work/mariadbd.pid --skip-name-resolve --innodb-buffer-pool-size=64M"
mariadbd $mariadb_options --bootstrap <"$work/bootstrap.sql" >"$work/bootstrap.log" 2>&1 || bail_out "no database: $(tail -n 5 "$work/bootstrap.log")"
mariadbd $mariadb_options >"$work/mariadbd.log" 2>&1 &
for _ in {1..100}; do
	[ -S "$work/sql" ] && break
	sleep 0.1
done

# slurmdbd is there before slurmctld, which does not start without it; it needs the cluster's munged.
plugins=$(find "$(dirname "$(dirname "$(command -v slurmdbd)")")"/lib* -name accounting_storage_mysql.so -printf '%h:' 2>/dev/null)
cat >"$work/first" <<-END
	#!/bin/bash
	umask 077
	cat >\$1/slurmdbd.conf <<-CONF
		DbdHost=localhost
		DbdAddr=127.0.0.1
		DbdPort=$dbd_port
		SlurmUser=root
		AuthType=auth/munge
		AuthInfo=socket=\$1/munge/socket
		PluginDir=$plugins$(dirname "$(find /usr/lib* -name auth_munge.so 2>/dev/null | head -n 1)")
		StorageType=accounting_storage/mysql
		StorageHost=127.0.0.1
		StoragePort=$sql_port
		StorageUser=slurm
		StoragePass=slurm
		StorageLoc=slurm
		LogFile=$work/slurmdbd.log
		PidFile=$work/slurmdbd.pid
	CONF
	slurmdbd
	cluster=\$(sed -n 's/^ClusterName=//p' \$1/slurm.conf)
	for i in {1..60}; do
		sacctmgr -i add cluster "\$cluster" >$work/sacctmgr.log 2>&1 && break
		sleep 0.5
	done
	sacctmgr -i add qos urgent >>$work/sacctmgr.log 2>&1
	sacctmgr -i add account physics secret7 >>$work/sacctmgr.log 2>&1
	sacctmgr -i add user root account=physics qos=normal,urgent >>$work/sacctmgr.log 2>&1
	sacctmgr -i add user root account=secret7 >>$work/sacctmgr.log 2>&1
END
chmod 755 "$work/first"
export SPOOR_CLUSTER_FIRST=$work/first
export SPOOR_CLUSTER_CONF="AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort=$dbd_port
AccountingStorageEnforce=associations,qos"
"$top/tests/site" start -n 1 "$build" || bail_out "no cluster with accounting: $(tail -n 3 "$work"/sacctmgr.log "$work"/slurmdbd.log)"
environment=$("$top/tests/site" env "$build") && eval "$environment" || bail_out 'no environment for the cluster'
sed -i 's|"rules": \[\]|"rules": [
	{ "name": "confidential", "match": { "account": "secret*" }, "mode": "off", "user": "none" },
	{ "name": "urgent", "match": { "qos": "urgent", "account": "physics" }, "mode": "lossy:77" } ]|' "$site/policy.json"
ok 'the policy is good' spoor policy check "$site/policy.json"

run() {
	run_job "$@" -n2 <<-END
		#!/bin/sh
		srun $ending
		mpirun $ending
	END
}
facts() {
	spoor list --json | grep "\"job\": *$job\b" | grep -o '"\(account\|qos\|rule\|mode\)": *"[^"]*"' | sort -u | tr -d ' \n'
}
run confidential --account=secret7 --trace=lossless
leaves 'an account that is not to be captured, whatever its user says' 0
run urgent --account=physics --qos=urgent
leaves 'a rule on account and QoS' 2
is 'a rule on account and QoS: metadata' "$(facts)" '"account":"physics""mode":"lossy:77""qos":"urgent""rule":"urgent"'
run other --account=physics
leaves 'the same account, another QoS' 2
is 'the same account, another QoS: metadata' "$(facts)" '"account":"physics""mode":"lossless""qos":"normal""rule":"default"'
done_testing
